"""A digest of the files of a torch: two with the same version may differ, for example by an edited line."""

from __future__ import annotations

import hashlib
import os
import pathlib
from functools import cache
from typing import TYPE_CHECKING

from exportdiff.core.cache_files import cache_folder, write_cache_file
from exportdiff.core.torch_versions.names import torch_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

_SUFFIXES = (".py", ".so", ".dylib", ".dll", ".pyd")
"""Python files and libraries; the rest, such as C++ headers, is not used when torch runs a model."""


def torch_digest() -> str:
    """Return a digest of the contents of the installed torch's files, without importing torch."""
    return digest_of_torch(torch_folder())


@cache
def digest_of_torch(folder: pathlib.Path) -> str:
    """Return a digest of the contents of the files of a torch, which may belong to another environment.

    Reading all files takes a second, so the answer is cached on disk by their names, sizes and times.
    """
    stamps = hashlib.sha256()
    for file in _files(folder):
        stat = file.stat()
        stamps.update(f"{file} {stat.st_size} {stat.st_mtime_ns} {stat.st_ino}\n".encode())
    kept = cache_folder() / "content" / f"{stamps.hexdigest()}.txt"
    try:
        return kept.read_text(encoding="ascii")
    except (OSError, ValueError):
        digest = _digest(folder)
        write_cache_file(kept, digest.encode())
        return digest


def _digest(folder: pathlib.Path) -> str:
    whole = hashlib.sha256()
    for file in _files(folder):
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        whole.update(f"{file.relative_to(folder)} {digest}\n".encode())
    return whole.hexdigest()


def _files(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yield the files in a fixed order, also those in folders that are links, each folder once."""
    seen: set[str] = set()
    for parent, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(parent)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders.sort()
        yield from (pathlib.Path(parent, name) for name in sorted(names) if name.endswith(_SUFFIXES))

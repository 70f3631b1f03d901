"""Where exportdiff's own code and its corpus are, in a checkout or installed from a wheel."""

from __future__ import annotations

import hashlib
import pathlib
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

PACKAGE = pathlib.Path(__file__).resolve().parents[1]
"""The folder of the package ``exportdiff``."""


def packages() -> tuple[pathlib.Path, ...]:
    """Return the folders of the packages ``exportdiff`` and ``exportdiff_strategies``. Imports neither."""
    spec = find_spec("exportdiff_strategies")
    assert spec is not None and spec.origin is not None, "it is installed together with exportdiff"
    return PACKAGE, pathlib.Path(spec.origin).resolve().parent


def import_folders() -> tuple[str, ...]:
    """Return the folders from which Python imports the packages, for ``PYTHONPATH``."""
    return tuple(dict.fromkeys(str(folder.parent) for folder in packages()))


def source_files() -> list[pathlib.Path]:
    """Return all Python files of the packages, in a fixed order, without an installed corpus."""
    corpus = PACKAGE / "corpora"
    files = (file for folder in packages() for file in sorted(folder.rglob("*.py")))
    return [file for file in files if corpus not in file.parents]


def digest_of(files: Iterable[pathlib.Path]) -> str:
    """Return twelve hexadecimal digits that depend on the names and the contents of files."""
    digest = hashlib.sha256()
    for file in files:
        content = file.read_bytes()
        digest.update(f"{file.name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:12]


def corpora() -> tuple[pathlib.Path, ...]:
    """Return where the corpus of this installation may be: in the package, or in the checkout around it."""
    return PACKAGE / "corpora", PACKAGE.parents[1] / "corpora"

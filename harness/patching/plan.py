"""What holding a set of fixes takes: the new code of each function of each file. Kept on disk by content."""

from __future__ import annotations

import hashlib
import marshal
import pathlib
import sys
import tempfile
from collections import defaultdict
from contextlib import suppress
from dataclasses import astuple
from typing import TYPE_CHECKING, TypeAlias

from harness.patching.compiling import Changed, changed_by
from harness.patching.placing import chunks_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.patching.fix import Fix

Plan: TypeAlias = "dict[str, tuple[Changed, ...]]"
"""By path in PyTorch's repository."""

_PLANS: dict[tuple[Fix, ...], Plan] = {}


def plan_of(fixes: tuple[Fix, ...], files: Mapping[str, str]) -> Plan:
    """Return what holding these fixes takes; ``files`` are the installed files, by path in the repository.

    Raises FixError if a fix does not fit, or two do not fit together.
    """
    if fixes not in _PLANS:
        _PLANS[fixes] = _made(fixes, files)
    return _PLANS[fixes]


def _made(fixes: tuple[Fix, ...], files: Mapping[str, str]) -> Plan:
    of_file: dict[str, list[Fix]] = defaultdict(list)
    for fix in fixes:
        for path, _ in fix.files:
            of_file[path].append(fix)
    return {
        path: tuple(changed_by(files[path], chunk) for chunk in chunks_of(path, files[path], of_path))
        for path, of_path in of_file.items()
    }


def remember_plan(fixes: tuple[Fix, ...], files: Mapping[str, str], folder: pathlib.Path) -> None:
    """Read the plan of these fixes from ``folder``, or make it and write it there.

    A folder that cannot be read or written costs time and nothing else. Raises FixError.
    """
    if fixes in _PLANS:
        return
    file = folder / f"{_digest(fixes, files)}.fixes"
    with suppress(OSError, ValueError, EOFError, TypeError):
        loaded = marshal.loads(file.read_bytes())
        _PLANS[fixes] = {path: tuple(Changed(*each) for each in chunks) for path, chunks in loaded}
        return
    plan = plan_of(fixes, files)
    content = marshal.dumps([(path, list(map(astuple, chunks))) for path, chunks in plan.items()])
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as written:
            written.write(content)
        # Nobody ever reads half a file.
        pathlib.Path(written.name).replace(file)


def _digest(fixes: tuple[Fix, ...], files: Mapping[str, str]) -> str:
    """Return a digest of everything that the plan depends on: patches, torch's sources, this Python."""
    digest = hashlib.sha256(sys.version.encode())
    for fix in fixes:
        digest.update(f"{fix.name}\0{fix.diff}\0".encode())
    for path, file in sorted(files.items()):
        digest.update(f"{path}\0{file}\0".encode())
        digest.update(pathlib.Path(file).read_bytes())
    for own in ("plan", "compiling", "placing"):  # how the plan is made
        digest.update(pathlib.Path(__file__).with_name(f"{own}.py").read_bytes())
    return digest.hexdigest()

"""The plan of a set of fixes: the new code of each function in each file. It is cached on disk."""

from __future__ import annotations

import hashlib
import marshal
import pathlib
import sys
from collections import defaultdict
from contextlib import suppress
from dataclasses import astuple
from typing import TYPE_CHECKING, TypeAlias

from exportdiff.core.cache_files import write_cache_file
from exportdiff.runtime.patching.compiling import Changed, changed_by
from exportdiff.runtime.patching.placing import chunks_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exportdiff.runtime.patching.fix import Fix

Plan: TypeAlias = "dict[str, tuple[Changed, ...]]"
"""The changes to each file, by the file's path in PyTorch's repository."""

_OWN = ("plan", "compiling", "outside_functions", "binding", "placing", "aligning", "statements")
"""The files of this package that compute the plan."""

_PLANS: dict[tuple[Fix, ...], Plan] = {}


def plan_of(fixes: tuple[Fix, ...], files: Mapping[str, str]) -> Plan:
    """Return the plan of these fixes; ``files`` are the installed files, by path in PyTorch's repository.

    Raises FixError if a fix does not fit, or two fixes conflict.
    """
    if fixes not in _PLANS:
        _PLANS[fixes] = _new_plan(fixes, files)
    return _PLANS[fixes]


def _new_plan(fixes: tuple[Fix, ...], files: Mapping[str, str]) -> Plan:
    fixes_of: dict[str, list[Fix]] = defaultdict(list)
    for fix in fixes:
        for path, _ in fix.files:
            fixes_of[path].append(fix)
    return {
        path: tuple(changed_by(files[path], chunk) for chunk in chunks_of(path, files[path], fixes_of_path))
        for path, fixes_of_path in fixes_of.items()
    }


def remember_plan(fixes: tuple[Fix, ...], files: Mapping[str, str], folder: pathlib.Path) -> None:
    """Read the plan of these fixes from ``folder``, or compute the plan and write it to ``folder``.

    If the folder cannot be read or written, only time is lost. Raises FixError as ``plan_of`` does.
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
    write_cache_file(file, content)


def _digest(fixes: tuple[Fix, ...], files: Mapping[str, str]) -> str:
    """Return a digest of all inputs of the plan: patches, torch's sources, the version of Python."""
    digest = hashlib.sha256(sys.version.encode())
    for fix in fixes:
        digest.update(f"{fix.name}\0{fix.diff}\0".encode())
    for path, file in sorted(files.items()):
        digest.update(f"{path}\0{file}\0".encode())
        digest.update(pathlib.Path(file).read_bytes())
    for module in _OWN:
        digest.update(pathlib.Path(__file__).with_name(f"{module}.py").read_bytes())
    return digest.hexdigest()

"""Checks that what a fix makes of a function reads no name that this torch does not have."""

from __future__ import annotations

import builtins
import dis
from types import CodeType
from typing import TYPE_CHECKING

from harness.patching.fix import FixError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


def check_bound(
    fixes: str, path: str, code: CodeType, before: Iterable[CodeType], names: Collection[str]
) -> None:
    """Raise FixError if new code reads a global name that is neither in ``names`` nor a builtin.

    Names that the code before read as well do not count: torch may bind them later.
    """
    known = {*names, *vars(builtins), *(name for old in before for name in _read(old))}
    missing = sorted({*_read(code)} - known)
    if missing:
        raise FixError(f"{fixes}: {path}, {code.co_qualname} of this torch has no name {missing[0]!r}")


def _read(code: CodeType) -> Iterator[str]:
    """Yield the global names that code reads, with those of the functions inside of it."""
    own = set()
    for step in dis.get_instructions(code):
        if step.opname in ("STORE_NAME", "STORE_GLOBAL"):
            own.add(step.argval)  # a class body has names of its own
        elif step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and step.argval not in own:
            yield step.argval
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _read(const)

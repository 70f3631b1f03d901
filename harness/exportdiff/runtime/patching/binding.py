"""Checks that the new code of a function does not read a name that this torch lacks."""

from __future__ import annotations

import dis
import importlib.util
import sys
from functools import cache
from types import CodeType, ModuleType
from typing import TYPE_CHECKING

from exportdiff.runtime.patching.fix import FixError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def check_bound(
    place: str, reads: Iterable[str], before: Iterable[CodeType], bound: Mapping[str, object]
) -> None:
    """Raise FixError if new code reads a name, imports a module, or reads a member that does not exist.

    ``place``: the beginning of the message. ``reads``: what the new code reads. ``bound``: its globals and
    the builtins, by name. To the compiler, a missing variable of an enclosing function is a global, so it is
    found too. Names that the old code also reads do not count: torch may bind them later.
    """
    doubtful = {name for name in reads if _is_not_imported(name) or not _is_there(name, bound)}
    if doubtful:  # only then, because to find what old code reads takes time
        doubtful -= {name for old in before for name in names_read(old)}
    missing = sorted(name for name in doubtful if not _is_there(name, bound))
    if missing:
        raise FixError(f"{place} of this torch has no name {missing[0]!r}")


@cache
def names_read(code: CodeType) -> frozenset[str]:
    """Return what code reads: names, members and imports. Takes a millisecond or more."""
    return frozenset(_yield_reads(code))


def _yield_reads(code: CodeType) -> Iterator[str]:
    """Yield what code reads, also in the functions inside of it.

    A global name as it is; members with dots, ``torch.fx.Node``; imported names with a colon,
    ``torch.fx:Node``.
    """
    own = set()
    imported = dotted = ""
    level = 0
    for step in dis.get_instructions(code):
        if dotted and step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            dotted += f".{step.argval}"
            continue
        if step.opname in _NO_OPERATION:
            continue
        if dotted:
            yield dotted
            dotted = ""
        if step.opname in ("STORE_NAME", "STORE_GLOBAL"):
            own.add(step.argval)  # the names of a class body
        elif step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and step.argval not in own:
            dotted = step.argval
            yield dotted
        elif step.opname in ("LOAD_CONST", "LOAD_SMALL_INT") and type(step.argval) is int:
            level = step.argval  # of the import that follows: 0 if it is absolute
        elif step.opname == "IMPORT_NAME":
            imported = "" if level else step.argval
            yield f"{imported}:"
        elif step.opname == "IMPORT_FROM":
            yield f"{imported}:{step.argval}"
    if dotted:
        yield dotted
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _yield_reads(const)


_NO_OPERATION = ("CACHE", "PUSH_NULL", "PRECALL", "EXTENDED_ARG", "NOP")
"""What may stand between the loading of a name and that of its member."""


def _is_not_imported(name: str) -> bool:
    """Whether code imports a module that is not loaded: to look for it imports the packages around it."""
    module, colon, _ = name.partition(":")
    return bool(colon and module) and module not in sys.modules


def _is_there(name: str, bound: Mapping[str, object]) -> bool:
    module, colon, member = name.partition(":")
    if colon:
        return _can_import(module, member)
    first, *rest = name.split(".")
    if first not in bound:
        return bool(rest)  # then the first name is the one to report
    value = bound[first]
    for each in rest:
        # Other objects may get the attribute later.
        if not isinstance(value, ModuleType):
            return True
        if not hasattr(value, each):
            return _is_module(f"{value.__name__}.{each}")
        value = getattr(value, each)
    return True


def _can_import(module: str, member: str) -> bool:
    """Whether ``from module import member`` works; without a member, ``import module``."""
    if not module:
        return True  # relative to an unknown package
    if not _is_module(module):
        return False
    loaded = sys.modules.get(module)
    # A module that is not imported yet stays so: importing it may change what torch does.
    return not member or loaded is None or hasattr(loaded, member) or _is_module(f"{module}.{member}")


def _is_module(name: str) -> bool:
    if name in sys.modules:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False

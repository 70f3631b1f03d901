"""Gives tables other entries, and classes other members, while a ``with`` block runs."""

from __future__ import annotations

from contextlib import contextmanager
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import CodeType, ModuleType

Entries: TypeAlias = "tuple[set[Any], set[Any]] | tuple[dict[Any, Any], dict[Any, Any]]"
"""A table of torch, and the entries that it gets. The object stays the same, so whoever has it sees them."""

_MISSING = object()


@contextmanager
def tables_with(tables: Iterable[Entries]) -> Iterator[None]:
    """Put the entries into their tables; restore the tables at the end of the block."""
    undo: list[tuple[Any, Any, object]] = []
    try:
        for table, entries in tables:
            for key in entries:
                if isinstance(table, set):
                    undo.append((table, key, key if key in table else _MISSING))
                    table.add(key)
                else:
                    undo.append((table, key, table.get(key, _MISSING)))
                    table[key] = entries[key]  # type: ignore[index]  # a dict, as its table is one
        yield
    finally:
        for table, key, before in reversed(undo):
            if before is not _MISSING:
                table.add(key) if isinstance(table, set) else table.__setitem__(key, before)
            elif isinstance(table, set):
                table.discard(key)
            else:
                table.pop(key, None)


@contextmanager
def classes_with(classes: Iterable[tuple[ModuleType, type, CodeType]]) -> Iterator[None]:
    """Give classes of modules the members that code defines in another class; restore them at the end.

    Subclasses and instances see the members too.
    """
    undo: list[tuple[type, str, object]] = []
    try:
        for module, owner, code in classes:
            for name, value in _members(module, owner, code).items():
                undo.append((owner, name, owner.__dict__.get(name, _MISSING)))
                setattr(owner, name, value)
        yield
    finally:
        for owner, name, before in reversed(undo):
            if before is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, before)


def _members(module: ModuleType, owner: type, code: CodeType) -> dict[str, object]:
    """Run code that defines a class in a module; return its members, as if ``owner`` had defined them."""
    namespace: dict[str, Any] = {}
    exec(code, module.__dict__, namespace)
    (defined,) = namespace.values()
    members = {name: value for name, value in vars(defined).items() if name not in _OF_EVERY_CLASS}
    for value in members.values():
        for function in _functions_in(value):
            if "__class__" in function.__code__.co_freevars:  # it calls super()
                at = function.__code__.co_freevars.index("__class__")
                assert function.__closure__ is not None, "a function has a cell for each of these variables"
                function.__closure__[at].cell_contents = owner
    return members


_OF_EVERY_CLASS = {*vars(type("_", (), {})), "__annotations__", "__firstlineno__", "__static_attributes__"}


def _functions_in(member: object) -> Iterator[FunctionType]:
    """Yield the functions of a method, a property, a class method or a static method."""
    parts = (getattr(member, name, None) for name in ("__func__", "fget", "fset", "fdel"))
    yield from (each for each in (member, *parts) if isinstance(each, FunctionType))

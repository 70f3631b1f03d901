"""The kinds of Python objects that hold others, or a state: how each is read, and written back."""

from __future__ import annotations

import functools
import itertools
import random
import sys
import threading
import types
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

Contents = dict[Any, Any]
"""What an object holds, by key."""

MISSING: Any = object()
"""In place of a global variable or an attribute that does not exist."""


class Internal(NamedTuple):
    """The state of an object that holds no others, such as a counter. It is compared by value."""

    value: object


def _nothing(contents: Contents) -> None:
    """Write nothing back: Python cannot set the state of such an object."""


@dataclass(frozen=True)
class Holder:
    """One object, as something that holds others by key."""

    read: Callable[[], Contents]
    write: Callable[[Contents], None]
    style: str = "[{!r}]"
    """How a key is written after the name of the object."""

    @property
    def restorable(self) -> bool:
        """Whether the state can be written back."""
        return self.write is not _nothing


def holders(value: Any) -> Iterator[Holder]:
    """Yield how a value holds others; nothing for a tensor, and for objects of foreign classes."""
    match value:
        case dict():
            yield Holder(lambda: dict(value), functools.partial(_refill, value))
        case list() | deque():
            yield Holder(lambda: dict(enumerate(value)), functools.partial(_extend, value))
        case set():
            yield Holder(lambda: {each: each for each in value}, functools.partial(_refill_set, value))
        case types.CellType():
            yield Holder(lambda: _cell(value), functools.partial(_set_cell, value), "")
        case type():
            yield Holder(lambda: _of_class(value), functools.partial(_set_attributes, value), ".{}")
            return
        case types.FunctionType():
            yield Holder(lambda: dict(vars(value)), functools.partial(_refill, vars(value)), ".{}")
            yield from _globals(value)
            return
        case nn.Module():
            yield Holder(lambda: _of_module(value), functools.partial(_set_module, value), ".{}")
            return
        case _:
            yield from _with_state(value)
    if has_attributes(value):
        yield Holder(lambda: dict(vars(value)), functools.partial(_refill, vars(value)), ".{}")
    if is_own(str(type(value).__module__)) and (slots := _slots(value)):
        read = functools.partial(_read_slots, value, slots)
        yield Holder(read, functools.partial(_set_attributes, value), ".{}")


def has_attributes(value: object) -> bool:
    """Whether an object has attributes that are kept: of an own class, or a plain namespace."""
    if isinstance(value, types.SimpleNamespace | threading.local):
        return True
    return is_own(str(type(value).__module__)) and hasattr(value, "__dict__")


def is_own(module: str) -> bool:
    """Whether a module is neither Python's nor torch's nor exportdiff's: the user's, or a library's.

    A package that torch itself computes with, such as sympy, is torch's: an export adds to its tables. So is
    filelock: torch and transformers take locks, and it counts them.
    """
    return module.partition(".")[0] not in _FOREIGN


_OF_TORCH = {"torch", "numpy", "sympy", "mpmath", "filelock"}
_FOREIGN = sys.stdlib_module_names | _OF_TORCH | {"exportdiff", "exportdiff_strategies"}


def _with_state(value: Any) -> Iterator[Holder]:
    """Yield how to read an object that holds a state of its own kind, such as a random number generator."""
    match value:
        case random.Random():
            yield _internal(value.getstate, value.setstate)
        case torch.Generator():
            yield _internal(lambda: value.get_state().numpy().tobytes(), _set_generator(value))
        case bytearray():
            yield _internal(lambda: bytes(value), functools.partial(value.__setitem__, slice(None)))
        case np.ndarray() if value.nbytes <= _LARGEST_ARRAY and not value.dtype.hasobject:
            yield _internal(value.tobytes, _set_array(value))
        case itertools.count():
            yield Holder(lambda: {"": Internal(repr(value))}, _nothing, "")
        case types.GeneratorType():
            yield Holder(lambda: {"": Internal(_where(value))}, _nothing, "")
        case _ if isinstance(value, Iterator) and hasattr(value, "__length_hint__"):
            yield Holder(lambda: {"": Internal(value.__length_hint__())}, _nothing, "")


_LARGEST_ARRAY = 2**20
"""Bytes up to which an array of numpy is kept."""


def _internal(read: Callable[[], object], write: Callable[[Any], None]) -> Holder:
    return Holder(lambda: {"": Internal(read())}, lambda contents: write(contents[""].value), "")


def _set_generator(generator: torch.Generator) -> Callable[[bytes], None]:
    def write(state: bytes) -> None:
        generator.set_state(torch.frombuffer(bytearray(state), dtype=torch.uint8))

    return write


def _set_array(array: Any) -> Callable[[bytes], None]:
    def write(content: bytes) -> None:
        array[...] = np.frombuffer(content, array.dtype).reshape(array.shape)

    return write


def _where(generator: types.GeneratorType[Any, Any, Any]) -> object:
    """Return at which instruction a generator is, and its plain variables."""
    frame = generator.gi_frame
    if frame is None:
        return None
    return frame.f_lasti, {name: repr(held) for name, held in frame.f_locals.items() if is_plain(held)}


def is_plain(value: object) -> bool:
    """Whether a value is compared by what it is, not by which object it is."""
    return type(value) in _PLAIN


_PLAIN = frozenset((bool, int, float, complex, str, bytes, type(None)))


def _globals(function: types.FunctionType) -> Iterator[Holder]:
    """Yield the global variables that an own function names, also those of own modules that it names."""
    if not is_own(str(function.__globals__.get("__name__", ""))):
        return
    names = frozenset(named_in(function.__code__))
    modules = (function.__globals__.get(name) for name in names)
    own = (vars(each) for each in modules if isinstance(each, types.ModuleType) and is_own(each.__name__))
    for store in (function.__globals__, *own):
        read = functools.partial(_read_names, store, names)
        yield Holder(read, functools.partial(_set_names, store), GLOBAL)


GLOBAL = "global {}"
"""The style of a global variable: its name stands without the name of the function."""


def named_in(code: types.CodeType) -> Iterator[str]:
    """Yield the names of globals and attributes in code, also in functions within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from named_in(constant)


def _read_names(store: Contents, names: frozenset[str]) -> Contents:
    return {name: store.get(name, MISSING) for name in names}


def _set_names(store: Contents, contents: Contents) -> None:
    for name, held in contents.items():
        if held is MISSING:
            store.pop(name, None)
        else:
            store[name] = held


def _refill(store: Any, contents: Contents) -> None:
    store.clear()
    store.update(contents)


def _refill_set(store: Any, contents: Contents) -> None:
    store.clear()
    store.update(contents.values())


def _extend(store: Any, contents: Contents) -> None:
    store.clear()
    store.extend(contents.values())


def _cell(cell: types.CellType) -> Contents:
    try:
        return {"": cell.cell_contents}
    except ValueError:  # it is empty
        return {"": MISSING}


def _set_cell(cell: types.CellType, contents: Contents) -> None:
    if contents[""] is MISSING:
        del cell.cell_contents
    else:
        cell.cell_contents = contents[""]


def _of_class(owner: type) -> Contents:
    named = vars(owner).items()
    return {name: held for name, held in named if not name.startswith("__") and name != "_abc_impl"}


def _of_module(module: nn.Module) -> Contents:
    """Return what a module holds besides its state, which export keeps."""
    return {name: held for name, held in vars(module).items() if name not in _STATE}


_STATE = frozenset(nn.Module().__dict__) - {"_modules", "_forward_hooks", "_forward_pre_hooks", "training"}


def _set_module(module: nn.Module, contents: Contents) -> None:
    for name in [name for name in _of_module(module) if name not in contents]:
        del vars(module)[name]
    vars(module).update(contents)


def _slots(value: object) -> tuple[str, ...]:
    """Return the names of the slots, without those that a property of a derived class hides."""
    named = (vars(each).get("__slots__", ()) for each in type(value).__mro__)
    every = [name for names in named for name in ((names,) if isinstance(names, str) else names)]
    found = (name for name in every if not name.startswith("__"))
    return tuple(each for each in found if isinstance(getattr(type(value), each), types.MemberDescriptorType))


def _read_slots(value: object, slots: tuple[str, ...]) -> Contents:
    return {name: getattr(value, name, MISSING) for name in slots}


def _set_attributes(owner: Any, contents: Contents) -> None:
    """Write attributes of a class or in slots, as far as they differ: a frozen dataclass too."""
    is_class = isinstance(owner, type)
    put, drop = (type.__setattr__, type.__delattr__) if is_class else (object.__setattr__, object.__delattr__)
    now = _of_class(owner) if is_class else _read_slots(owner, tuple(contents))
    for name in now.keys() | contents.keys():
        before, after = contents.get(name, MISSING), now.get(name, MISSING)
        if before is MISSING and after is not MISSING:
            drop(owner, name)
        elif before is not after:
            put(owner, name, before)

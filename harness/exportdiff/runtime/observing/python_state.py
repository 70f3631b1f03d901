"""Python values that the code of a model can change: globals, closures, attributes of classes, counters.

Export fixes Python values as they are when it traces. ``PythonState`` keeps those that a model can reach. It
says which ones a call has changed, and restores them, so that the next run starts from the same values.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import gc
import re
import types
from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import nn

from exportdiff.runtime.observing.holders import GLOBAL, MISSING, Internal, holders, is_own, is_plain
from exportdiff.runtime.observing.saved_tensors import SavedTensors
from exportdiff.runtime.observing.tensors import named_state

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from exportdiff.runtime.observing.holders import Contents, Holder

LARGEST = 20_000
"""How many objects are visited at most: what a large library holds besides is not kept."""

_Cache = functools._lru_cache_wrapper


class _Kept(NamedTuple):
    """One object that holds others, and what it held at first."""

    holder: Holder
    contents: Contents
    name: str
    inside: bool
    """Whether the model reaches it by attributes and items alone, without its code."""
    lasting: bool
    """Whether it cannot be set back, as a generator."""

    def changed(self, key: object) -> str:
        """Return the name of what differs under a key; where there was nothing, that of the object."""
        return _named(self.name, self.holder, key) if key in self.contents else self.name


class PythonState:
    """The Python values that a model can reach, as they are now, without its parameters and buffers."""

    def __init__(self, model: nn.Module) -> None:
        """Visit the attributes, classes, functions, globals and closures of a model."""
        self._kept: list[_Kept] = []
        self._caches: list[tuple[_Cache[Any], str]] = []
        """The caches of functions, with names."""
        self._filled: set[int] = set()
        """The ids of the caches that held something at first."""
        self._iterators: dict[int, Any] = {}
        """By the id of an iterator that cannot be set back: a copy of it."""
        self._seen: dict[int, object] = {id(tensor): tensor for _, tensor in named_state(model)}
        """By id: an id is valid only while its object lives."""
        outside: list[torch.Tensor] = []
        self._visit([(model, "model")], outside)
        self._tensors = SavedTensors(outside)

    def functions(self) -> list[types.FunctionType] | None:
        """Return the functions that were visited; None if there were too many objects to visit all."""
        if len(self._seen) > LARGEST:
            return None
        return [value for value in self._seen.values() if isinstance(value, types.FunctionType)]

    def changed(self, *, lasting: bool = False) -> frozenset[str]:
        """Return what differs now, as one would write it: ``Counter.step``, ``global CALLS``.

        ``lasting``: only what cannot be set back. What the caches of functions hold by now is kept from now
        on: a later call may change it.
        """
        found = frozenset(
            _SUBMODULE.sub(r".\1", each.changed(key))
            for each in self._kept
            if each.lasting or not lasting
            for key in _differing(each.contents, each.holder.read())
        )
        self._visit([(held, name) for cache, name in self._caches for held in _results(cache)], [])
        return found

    def restore(self, *, inside: bool = True) -> None:
        """Write the values back; without ``inside``, only those that the attributes of the model do not hold.

        Tensors outside of the model stay as they are: between two calls they are state, as buffers are.
        """
        for each in self._kept:
            if each.inside and not inside:
                continue
            moved = not self._iterators.keys().isdisjoint(map(id, each.contents.values()))
            if moved or _differing(each.contents, each.holder.read()):
                each.holder.write({key: self._fresh(held) for key, held in each.contents.items()})
        for cache, _ in self._caches:
            if id(cache) not in self._filled:
                cache.cache_clear()

    def undo(self) -> None:
        """Restore all that is outside of the model, tensors too, so that the next run starts as this one."""
        self.restore(inside=False)
        self._tensors.restore()

    def _fresh(self, held: Any) -> Any:
        return copy.copy(self._iterators[id(held)]) if id(held) in self._iterators else held

    def _visit(self, values: Iterable[tuple[Any, str]], outside: list[torch.Tensor]) -> None:
        """Keep all that the values reach: first without code, then the code, and what that reaches.

        ``outside`` receives the tensors that only code reaches.
        """
        waiting: list[tuple[Any, str]] = list(values)
        code: list[tuple[Any, str]] = []
        inside = True
        while waiting or code:
            if not waiting:
                waiting, code, inside = code, [], False
            value, name = waiting.pop()
            if is_plain(value) or value is MISSING or id(value) in self._seen or len(self._seen) > LARGEST:
                continue
            if inside and _is_code(value):
                code.append((value, name))
                continue
            self._seen[id(value)] = value
            if isinstance(value, torch.Tensor):
                outside += [] if inside else [value]
                continue
            waiting += self._keep(value, name, inside=inside)

    def _keep(self, value: Any, name: str, *, inside: bool) -> Iterator[tuple[Any, str]]:
        """Keep what one object holds; yield what it leads to, with names."""
        if isinstance(value, _Cache):
            self._caches.append((value, name))
            self._filled |= {id(value)} if value.cache_info().currsize else set()
            yield from ((held, name) for held in _results(value))
        for holder in holders(value):
            contents = holder.read()
            lasting = not holder.restorable and not self._copied(value)
            self._kept.append(_Kept(holder, contents, name, inside, lasting))
            for key, held in contents.items():
                if not is_plain(held):
                    yield held, _named(name, holder, key)
        yield from _parts(value, name)

    def _copied(self, value: Any) -> bool:
        """Whether a copy of an iterator can be kept."""
        with contextlib.suppress(TypeError):
            self._iterators[id(value)] = copy.copy(value)
        return id(value) in self._iterators


_SUBMODULE = re.compile(r"\._modules\['(\w+)'\]")


def _is_code(value: object) -> bool:
    return isinstance(value, types.FunctionType | types.MethodType | type | _Cache | property)


def _parts(value: Any, name: str) -> Iterator[tuple[Any, str]]:
    """Yield what an object leads to besides what it holds."""
    match value:
        case tuple() | frozenset():
            yield from ((held, f"{name}[{place}]") for place, held in enumerate(value))
        case types.FunctionType():
            cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
            yield from ((cell, f"{variable} of {value.__qualname__}") for variable, cell in cells)
            yield value.__defaults__, f"the defaults of {value.__qualname__}"
            yield value.__kwdefaults__, f"the defaults of {value.__qualname__}"
        case types.MethodType():
            yield value.__self__, name
            yield value.__func__, name
        case functools.partial():
            yield from ((held, name) for held in (value.func, value.args, value.keywords))
        case staticmethod() | classmethod():
            yield value.__func__, name
        case property():
            yield from ((held, name) for held in (value.fget, value.fset))
        case _Cache():
            yield value.__wrapped__, name
        case type():
            yield from ((base, base.__qualname__) for base in value.__mro__ if is_own(base.__module__))
        case nn.Module():
            yield type(value), type(value).__qualname__
        case _ if is_own(type(value).__module__):
            yield type(value), type(value).__qualname__


def _named(name: str, holder: Holder, key: object) -> str:
    written = holder.style.format(key)
    return written if holder.style == GLOBAL else name + written


def _results(cache: _Cache[Any]) -> Iterator[object]:
    """Yield what functools.lru_cache keeps: Python shows it to the garbage collector alone."""
    unbounded = cache.cache_parameters()["maxsize"] is None
    for held in gc.get_referents(cache):
        if held is vars(cache) or held is cache.__wrapped__:
            continue
        if isinstance(held, dict) and (unbounded or _is_table(held)):
            yield from held.values() if unbounded else ()
        else:
            yield held


def _is_table(held: dict[Any, Any]) -> bool:
    """Whether a dict is the table of a bounded cache, whose values are links to the results."""
    return all(type(each).__name__ == "_lru_list_elem" for each in held.values())


def _differing(before: Contents, after: Contents) -> list[Any]:
    if _identical(before, after) and _identical(before.values(), after.values()):
        return []  # the usual case
    keys = [key for key, held in before.items() if not _same(held, after.get(key, MISSING))]
    return keys + [key for key in after if key not in before]


def _identical(some: Collection[object], others: Collection[object]) -> bool:
    return len(some) == len(others) and all(map(is_, some, others))


def _same(one: object, other: object) -> bool:
    if one is other:
        return True
    return type(one) is type(other) and (is_plain(one) or isinstance(one, Internal)) and one == other

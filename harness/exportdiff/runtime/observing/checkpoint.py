"""Saving all that a model holds (tensors, attributes, children), and restoring it."""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from exportdiff.runtime.observing.parts import observing
from exportdiff.runtime.observing.saved_tensors import SavedTensors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Checkpoint:
    """A model as it is now. ``restore`` writes into the same objects, so that no identity changes."""

    def __init__(self, model: nn.Module) -> None:
        """Save everything that Python code of the model can reach and change, tensors included."""
        self._containers: list[tuple[Any, Any]] = []
        self._cells: list[tuple[types.CellType, object]] = []
        self._classes: list[tuple[type, dict[str, object]]] = []
        self._tensors: list[torch.Tensor] = []
        with observing("what the model holds"):
            for value in _reach(model):
                self._save(value)
        self._isolation = SavedTensors(self._tensors)

    def _save(self, value: Any) -> None:
        if isinstance(value, torch.Tensor):
            self._tensors.append(value)
        elif isinstance(value, types.CellType):
            self._cells.append((value, value.cell_contents))
        elif isinstance(value, type):
            self._classes.append((value, dict(vars(value))))
        else:
            self._containers.append((value, value.copy()))

    def is_unchanged(self) -> bool:
        """Whether all tensors are as they were."""
        return self._isolation.is_unchanged()

    def restore(self) -> bool:
        """Restore everything. Return False if some tensor does not allow it; the model is undefined then."""
        for container, contents in self._containers:
            if not _same(container, contents):
                container.clear()
                (container.extend if isinstance(container, list) else container.update)(contents)
        for cell, content in self._cells:
            cell.cell_contents = content
        for owner, attributes in self._classes:
            _restore_class(owner, attributes)
        return self._isolation.restore()


def tensor_places(model: nn.Module) -> dict[str, torch.Tensor]:
    """Return the tensors that a model can reach, also those in lists and dicts, each under all its places.

    The keys have no meaning, but each stays the same as long as the container does.
    """
    found: dict[str, torch.Tensor] = {}
    for value in _values(model):
        parts = value.items() if isinstance(value, dict) else enumerate(_parts(value))
        found |= {f"{id(value)}[{key!r}]": part for key, part in parts if isinstance(part, torch.Tensor)}
    return found


def holds_computed(model: nn.Module) -> bool:
    """Return whether a model holds a tensor, as an attribute, that was computed from parameters."""
    registered = {id(tensor) for store in (model.parameters(), model.buffers()) for tensor in store}
    return any(
        not isinstance(tensor, torch.nn.Parameter) and tensor.requires_grad and id(tensor) not in registered
        for tensor in tensor_places(model).values()
    )


def holds_unregistered(model: nn.Module) -> bool:
    """Return whether a model holds a parameter with gradient that no module registers."""
    registered = {id(parameter) for parameter in model.parameters()}
    return any(
        isinstance(tensor, torch.nn.Parameter) and tensor.requires_grad and id(tensor) not in registered
        for tensor in tensor_places(model).values()
    )


def held_elsewhere(model: nn.Module) -> frozenset[int]:
    """Return the ids of the tensors that a model holds in other places than its parameters and buffers."""
    stores = {id(store) for each in model.modules() for store in (each._parameters, each._buffers)}
    values = [value for value in _values(model) if id(value) not in stores]
    return frozenset(id(part) for value in values for part in _parts(value) if isinstance(part, torch.Tensor))


def plain_objects(model: nn.Module) -> list[object]:
    """Return the objects with attributes that a model can reach and that are no modules, such as a cache.

    While the list lives, no new object gets one of their ids.
    """
    return [value for value in _values(model) if _has_attributes(value)]


def _restore_class(owner: type, attributes: dict[str, object]) -> None:
    for name in [name for name in vars(owner) if name not in attributes]:
        delattr(owner, name)
    for name, value in attributes.items():
        if vars(owner).get(name) is not value:
            setattr(owner, name, value)


def _same(one: Any, other: Any) -> bool:
    """Whether two containers hold the same objects in the same order."""
    if len(one) != len(other):
        return False
    pairs = zip(one, other, strict=True)
    if isinstance(one, dict):
        return all(a is b and one[a] is other[b] for a, b in pairs)
    return all(a is b for a, b in pairs)


def _reach(model: nn.Module) -> Iterator[Any]:
    """Yield each tensor and each mutable container, cell or class that a model can reach."""
    for value in _values(model):
        if isinstance(value, torch.Tensor | dict | list | set) or _is_cell(value) or _is_own_class(value):
            yield value


def _values(model: nn.Module) -> Iterator[Any]:
    """Yield everything that Python code of a model can reach, each object once."""
    seen: set[int] = set()
    waiting: list[object] = [model]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        waiting.extend(_parts(value))


def _parts(value: Any) -> Iterable[object]:
    """Return the values that one value refers to."""
    match value:
        case dict():
            return list(value.values())
        case list() | set() | tuple():
            return list(value)
        case types.CellType():
            return [value.cell_contents] if _is_cell(value) else ()
        case types.FunctionType():
            return (*(value.__closure__ or ()), value.__defaults__, value.__kwdefaults__, vars(value))
        case types.MethodType():
            return value.__self__, value.__func__
        case functools.partial():
            return value.func, value.args, value.keywords
        case type():
            return list(vars(value).values()) if _is_own_class(value) else ()
        case nn.Module():
            return vars(value), type(value)
    # Of any other objects, only those of the program's own classes, and plain namespaces, are saved.
    return (vars(value), type(value)) if _has_attributes(value) else ()


def _has_attributes(value: object) -> bool:
    if isinstance(value, types.SimpleNamespace):
        return True
    return not isinstance(value, nn.Module) and hasattr(value, "__dict__") and _is_own_class(type(value))


def _is_cell(value: object) -> bool:
    return isinstance(value, types.CellType) and value != types.CellType()  # an empty one has no contents


def _is_own_class(value: object) -> bool:
    if not isinstance(value, type):
        return False
    top = value.__module__.partition(".")[0]
    return top not in _OTHERS


_OTHERS = frozenset(
    ("torch", "builtins", "collections", "enum", "typing", "functools", "types", "abc", "numpy")
)

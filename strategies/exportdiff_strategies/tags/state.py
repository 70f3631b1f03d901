"""Detectors of parameters, buffers and constants."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.tags.analysis import Analysis
from exportdiff_strategies.values import TensorValue


def _state_refs(p: Analysis) -> list[TensorValue]:
    """All tensors that are attributes of modules, each once."""
    refs = {id(v): v for place in p.places for v in place.module.attrs.values() if isinstance(v, TensorValue)}
    return [*refs.values()]


def shares_storage(p: Analysis) -> bool:
    """Whether two buffers, constants or views share a storage."""
    if p.has(ir.DerivedTensor, lambda derived: bool(derived.op)):
        return True  # at the start; an assignment to `.data` may part them
    kinds = ("buffer", "scratch", "constant")
    storages = [ref.storage for ref in _state_refs(p) if ref.view or ref.storage.kind in kinds]
    return len(set(storages)) < len(storages)


def has_view_of_parameter(p: Analysis) -> bool:
    """Whether an attribute is a view of a parameter."""
    return any(ref.view and ref.storage.kind == "parameter" for ref in _state_refs(p))


def has_tied_tensors(p: Analysis) -> bool:
    """Whether one tensor is an attribute twice."""
    seen: dict[int, int] = {}
    modules = {id(place.module): place.module for place in p.places}
    for module in modules.values():
        for value in module.attrs.values():
            if isinstance(value, TensorValue):
                seen[id(value)] = seen.get(id(value), 0) + 1
    return any(count > 1 for count in seen.values())


def has_unused_parameter(p: Analysis) -> bool:
    """Whether nothing reads a parameter."""
    return any(
        isinstance(init, ir.TensorAttr) and init.kind == "parameter" and id(init) not in p.trace.used
        for cls in p.classes
        for init in cls.init
    )


def updates_running_statistics(p: Analysis) -> bool:
    """Whether there is a batch norm in train mode."""
    return p.program.training and p.has(ir.New, lambda n: n.layer and n.name.startswith("batch_norm"))

"""Detectors of inputs, outputs and dynamic shapes."""

from __future__ import annotations

from collections.abc import Callable

from exportdiff_strategies import program as ir
from exportdiff_strategies.constants import OTHER_TYPES
from exportdiff_strategies.tags.analysis import Analysis
from exportdiff_strategies.tags.tag import Detector
from exportdiff_strategies.values import CollectionValue, TensorValue, Value


def tensor_inputs(p: Analysis) -> list[ir.TensorInput]:
    """All example tensors, including those in containers."""
    return [given for given in p.inputs if isinstance(given, ir.TensorInput)]


def has_input_dtype(dtype: str) -> Detector:
    """An input has this dtype."""
    return lambda p: any(t.fill.dtype == dtype for t in tensor_inputs(p))


def has_input_layout(name: str) -> Detector:
    """An input has this memory layout."""
    return lambda p: any(t.layout == name for t in tensor_inputs(p))


def has_input_shape(test: Callable[[tuple[int, ...]], bool]) -> Detector:
    """The shape of an input passes the test."""
    return lambda p: any(test(t.fill.shape) for t in tensor_inputs(p))


def has_input_container(kind: str) -> Detector:
    """An input is a container of this kind."""
    return lambda p: any(isinstance(i, ir.CollectionInput) and i.kind == kind for i in p.inputs)


def has_input_of(*kinds: type) -> Detector:
    """An input is a Python value of one of these types."""
    return lambda p: any(isinstance(i, ir.Lit) and type(i.value) in kinds for i in p.inputs)


def records(p: Analysis) -> list[ir.Collection | ir.CollectionInput]:
    """All namedtuples and dataclasses, in the code and among the inputs."""
    found = (*p.nodes, *p.inputs)
    return [
        n for n in found if isinstance(n, ir.Collection | ir.CollectionInput) and n.kind in ("named", "data")
    ]


def returns_role(*roles: str) -> Detector:
    """An output has one of these roles."""
    return lambda p: any(role in roles for _, role in p.outputs)


def returns_container(kind: str) -> Detector:
    """The model returns a container of this kind."""
    return lambda p: any(
        group.kind == kind
        for r in ir.of_type(p.root.body, ir.Return)
        for group in ir.of_type(r.value, ir.Collection)
    )


def returns_python(*kinds: type) -> Detector:
    """The model returns a Python value of one of these types."""
    return lambda p: any(type(leaf) in kinds for leaf, _ in p.outputs)


def returns_empty(p: Analysis) -> bool:
    """Whether the model returns an empty container."""
    return any(empty_boxes(result) for _, result in p.trace.results[:1])


def returns_no_tensor(p: Analysis) -> bool:
    """Whether the model returns no tensor at all."""
    return not any(isinstance(leaf, TensorValue) for leaf, _ in p.outputs)


def empty_boxes(value: Value) -> bool:
    """Whether a value is an empty container, or has one in it."""
    return isinstance(value, CollectionValue) and (
        not value.items or any(map(empty_boxes, value.items.values()))
    )


def has_other_keys(p: Analysis) -> bool:
    """Whether a dict has keys that are no text."""
    dicts = (
        n
        for n in (*p.nodes, *p.inputs)
        if isinstance(n, ir.Collection | ir.CollectionInput) and n.kind == "dict"
    )
    return any(not isinstance(key, str) for each in dicts for key in each.keys)


def takes_other_type(p: Analysis) -> bool:
    """Whether the model takes a number of another type than the argument is meant for."""
    kinds = {arg.name: arg.kind for arg in p.root.args}
    return any(
        isinstance(given, ir.Lit)
        and given.value in OTHER_TYPES.get(kinds.get(name, ""), ())
        and type(given.value).__name__ != kinds[name]
        for name, given in p.program.inputs
    )


def has_value_in_container(p: Analysis) -> bool:
    """Whether a container of inputs holds a Python value or an empty container."""
    items = [item for i in p.inputs if isinstance(i, ir.CollectionInput) for item in i.items]
    return any(
        isinstance(item, ir.Lit) or item == ir.CollectionInput(item.kind, ())
        for item in items
        if isinstance(item, ir.Lit | ir.CollectionInput)
    )


def returns_duplicate(p: Analysis) -> bool:
    """Whether the model returns one tensor twice."""
    tensors = [id(leaf) for leaf, _ in p.outputs if isinstance(leaf, TensorValue)]
    return len(set(tensors)) < len(tensors)


def returns_nested(p: Analysis) -> bool:
    """Whether the model returns a container in a container."""
    return any(
        isinstance(item, ir.Collection)
        for r in ir.of_type(p.root.body, ir.Return)
        for g in ir.of_type(r.value, ir.Collection)
        for item in g.items
    )


def dynamic_shapes_are(test: Callable[..., bool]) -> Detector:
    """The shapes are dynamic, and pass the test."""
    return lambda p: p.program.dynamic is not None and test(p.program.dynamic)


def passes_extra_arguments(p: Analysis, given: ir.NamedInputs) -> bool:
    """Whether the shapes are dynamic and these arguments include some for ``*rest`` or ``**options``."""
    own = {arg.name for arg in p.root.args}
    return p.program.dynamic is not None and any(name not in own for name, _ in given)

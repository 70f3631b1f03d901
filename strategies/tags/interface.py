"""Detectors of inputs, outputs and dynamic shapes."""

from __future__ import annotations

from collections.abc import Callable

from strategies.program import Given, Group, GroupInput, Lit, Return, TensorInput, of_type
from strategies.tags.analysis import Analysis
from strategies.tags.tag import Detector
from strategies.values import Ref


def tensor_inputs(p: Analysis) -> list[TensorInput]:
    """All example tensors, including those in containers."""
    return [given for given in p.inputs if isinstance(given, TensorInput)]


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
    return lambda p: any(isinstance(i, GroupInput) and i.kind == kind for i in p.inputs)


def has_input_of(*kinds: type) -> Detector:
    """An input is a Python value of one of these types."""
    return lambda p: any(isinstance(i, Lit) and type(i.value) in kinds for i in p.inputs)


def records(p: Analysis) -> list[Group | GroupInput]:
    """All namedtuples and dataclasses, in the code and among the inputs."""
    found = (*p.nodes, *p.inputs)
    return [n for n in found if isinstance(n, Group | GroupInput) and n.kind in ("named", "data")]


def returns_role(*roles: str) -> Detector:
    """An output has one of these roles."""
    return lambda p: any(role in roles for _, role in p.outputs)


def returns_container(kind: str) -> Detector:
    """The model returns a container of this kind."""
    return lambda p: any(
        group.kind == kind for r in of_type(p.root.body, Return) for group in of_type(r.value, Group)
    )


def returns_duplicate(p: Analysis) -> bool:
    """Whether the model returns one tensor twice."""
    tensors = [id(leaf) for leaf, _ in p.outputs if isinstance(leaf, Ref)]
    return len(set(tensors)) < len(tensors)


def returns_nested(p: Analysis) -> bool:
    """Whether the model returns a container in a container."""
    return any(
        isinstance(item, Group)
        for r in of_type(p.root.body, Return)
        for g in of_type(r.value, Group)
        for item in g.items
    )


def dynamic_shapes_are(test: Callable[..., bool]) -> Detector:
    """The shapes are dynamic, and pass the test."""
    return lambda p: p.program.dynamic is not None and test(p.program.dynamic)


def passes_extra_arguments(p: Analysis, given: Given) -> bool:
    """Whether the shapes are dynamic and these arguments include some for ``*rest`` or ``**options``."""
    own = {arg.name for arg in p.root.args}
    return p.program.dynamic is not None and any(name not in own for name, _ in given)

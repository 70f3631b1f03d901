"""The tables of Python conditions, and of Python ints that are read from the metadata of tensors.

To add a condition or a measure, add one line to CONDS, MODES, RELATIONS or MEASURES. For example, ``"rank"``
is written ``x.dim() == 2``, and is true for a value whose type has two dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from exportdiff_strategies import program as ir
from exportdiff_strategies.ops import Rejected, forbid, require
from exportdiff_strategies.types import TensorType
from exportdiff_strategies.values import CollectionValue, TensorValue, Value


@dataclass(frozen=True, slots=True)
class CondSpec:
    """A condition on one value: how it is written, and its truth for a value and constants.

    ``kinds`` are the kinds of arguments that it tests; without any, it tests tensors. ``autograd``: it reads
    state of autograd, which is different inside a control-flow operator.
    """

    template: str
    kinds: tuple[str, ...]
    test: Callable[[Value, Sequence[object]], bool]
    autograd: bool = False


def _tensor(value: Value) -> TensorType:
    if not isinstance(value, TensorValue):
        raise Rejected("not a tensor")
    return value.type


def _is_contiguous(value: Value, params: Sequence[object]) -> bool:
    known = _tensor(value).contiguous
    if known is None:
        raise Rejected("strides unknown")
    return known


def _size(kind: TensorType, dim: int) -> int:
    require(kind.shape, "no dimension")
    return kind.shape[dim]


def _stride(kind: TensorType, dim: int) -> int:
    # For a dimension of size 1, eager and a symbolic trace may report different strides.
    if kind.stride is None or not kind.shape or min(kind.shape) < 2:
        raise Rejected("strides unknown")
    return kind.stride[dim]


def _requires_grad(value: Value, params: Sequence[object]) -> bool:
    _tensor(value)
    assert isinstance(value, TensorValue)
    # After an in-place write that makes a tensor require grad, autograd updates older views only when it
    # next uses them. And state may start to require grad from one call to the next, while an exported
    # program stays the same.
    if (value.view and value.family.gained) or value.storage.kind in ("buffer", "scratch", "constant"):
        raise Rejected("gradients unknown")
    return value.grad


def _plain(value: Value) -> Value:
    if isinstance(value, TensorValue):
        raise Rejected("the truth of a tensor depends on its values")
    return value


def _truthy(value: Value, params: Sequence[object]) -> bool:
    return bool(value.items) if isinstance(value, CollectionValue) else bool(_plain(value))


def _has(value: Value, params: Sequence[object]) -> bool:
    if not isinstance(value, CollectionValue):
        raise Rejected("not a container")
    return params[0] in value.items


def _number(value: Value) -> float:
    if not isinstance(value, int | float):
        raise Rejected("not a number")
    return value


def _length(value: Value) -> int:
    if not isinstance(value, ir.Size):
        raise Rejected("not a torch.Size")
    return len(value)


WITHIN = "within_size"
"""The condition that a size is no larger than declared."""

CONDS: dict[str, CondSpec] = {
    "truthy": CondSpec("{0}", ("bool", "int", "rest"), _truthy),
    "not": CondSpec("not {0}", ("bool",), lambda v, p: not _plain(v)),
    "equals": CondSpec("{0} == {p[0]!r}", ("str", "int", "float"), lambda v, p: _plain(v) == p[0]),
    "in": CondSpec("{0} in {p!r}", ("str", "int", "float"), lambda v, p: _plain(v) in p),
    "is_member": CondSpec("{0} is {p[0]}", ("enum",), lambda v, p: _plain(v) is p[0]),
    "length": CondSpec("len({0}) == {p[0]}", ("size",), lambda v, p: _length(v) == p[0]),
    "above": CondSpec("{0} > {p[0]}", ("int", "float"), lambda v, p: _number(v) > int(str(p[0]))),
    "is_none": CondSpec("{0} is None", ("optional",), lambda v, p: v is None),
    "is_given": CondSpec("{0} is not None", ("optional",), lambda v, p: v is not None),
    "is_tensor": CondSpec(
        "isinstance({0}, torch.Tensor)", ("either",), lambda v, p: isinstance(v, TensorValue)
    ),
    "is_tuple": CondSpec("isinstance({0}, tuple)", ("either",), lambda v, p: isinstance(v, CollectionValue)),
    "has_key": CondSpec("{p[0]!r} in {0}", ("options",), _has),
    "size": CondSpec("{0}.shape[0] > {p[0]}", (), lambda v, p: _size(_tensor(v), 0) > int(str(p[0]))),
    "even_size": CondSpec("{0}.shape[0] % 2 == 0", (), lambda v, p: _size(_tensor(v), 0) % 2 == 0),
    "size_is": CondSpec("{0}.shape[0] == {p[0]}", (), lambda v, p: _size(_tensor(v), 0) == p[0]),
    WITHIN: CondSpec("{0}.shape[0] <= {p[0]}", (), lambda v, p: _size(_tensor(v), 0) <= int(str(p[0]))),
    "numel": CondSpec("{0}.numel() > {p[0]}", (), lambda v, p: _tensor(v).numel > int(str(p[0]))),
    "rank": CondSpec("{0}.dim() == {p[0]}", (), lambda v, p: len(_tensor(v).shape) == p[0]),
    "dtype": CondSpec("{0}.dtype == torch.{p[0]}", (), lambda v, p: _tensor(v).dtype == p[0]),
    "contiguous": CondSpec("{0}.is_contiguous()", (), _is_contiguous),
    "stride": CondSpec("{0}.stride(-1) == 1", (), lambda v, p: _stride(_tensor(v), -1) == 1),
    "requires_grad": CondSpec("{0}.requires_grad", (), _requires_grad, autograd=True),
}
"""Conditions on one value."""


class ModeState(Protocol):
    """The state that a condition without a subject reads; the machine has it."""

    @property
    def training(self) -> bool:
        """Whether the model is in train mode."""
        ...

    @property
    def grad_on(self) -> bool:
        """Whether grad mode is on."""
        ...


@dataclass(frozen=True, slots=True)
class ModeSpec:
    """A condition without a subject: how it is written, and its truth.

    ``traced``: it may have another truth while a model is traced, so it is kept even if it is always the
    same.
    """

    template: str
    test: Callable[[ModeState], bool]
    autograd: bool = False
    traced: bool = False


MODES: dict[str, ModeSpec] = {
    "training": ModeSpec("self.training", lambda around: around.training),
    "grad_enabled": ModeSpec(
        "torch.is_grad_enabled()", lambda around: around.grad_on, autograd=True, traced=True
    ),
}
"""Conditions without a subject."""


@dataclass(frozen=True, slots=True)
class RelationSpec:
    """A condition on two tensors: how it is written, and its truth."""

    template: str
    test: Callable[[TensorValue, TensorValue], bool]


RELATIONS: dict[str, RelationSpec] = {
    "same": RelationSpec("{0} is {1}", lambda first, second: first is second),
    "other": RelationSpec("{0} is not {1}", lambda first, second: first is not second),
}
"""Conditions on two tensors."""


@dataclass(frozen=True, slots=True)
class MeasureSpec:
    """A Python int read from a tensor, mostly from its metadata: how it is written, and its value."""

    template: str
    read: Callable[[TensorType], int]
    of_data: bool = False
    """Whether it is read from data, so that no trace knows it."""


def _counted(kind: TensorType) -> int:
    count = _size(kind, 0)
    forbid(count < 2, "export takes a number of data for neither 0 nor 1")
    return count


MEASURES: dict[str, MeasureSpec] = {
    "rank": MeasureSpec("{0}.dim()", lambda kind: len(kind.shape)),
    "first_size": MeasureSpec("{0}.shape[0]", lambda kind: _size(kind, 0)),
    "last_size": MeasureSpec("{0}.size(-1)", lambda kind: _size(kind, -1)),
    "first_stride": MeasureSpec("{0}.stride(0)", lambda kind: _stride(kind, 0)),
    "numel": MeasureSpec("{0}.numel()", lambda kind: kind.numel),
    "length": MeasureSpec("len({0})", lambda kind: _size(kind, 0)),
    "floor_half": MeasureSpec("math.floor({0}.shape[0] / 2)", lambda kind: math.floor(_size(kind, 0) / 2)),
    "rounded_half": MeasureSpec("round({0}.shape[0] / 2)", lambda kind: round(_size(kind, 0) / 2)),
    "quotient": MeasureSpec("({0}.shape[0] // 2)", lambda kind: _size(kind, 0) // 2),
    "least": MeasureSpec("min({0}.shape[0], 3)", lambda kind: min(_size(kind, 0), 3)),
    "most": MeasureSpec("max({0}.shape[0], {0}.dim())", lambda kind: max(_size(kind, 0), len(kind.shape))),
    "counted": MeasureSpec("int(torch.ones({0}.shape[0]).sum())", _counted, of_data=True),
    "whole_root": MeasureSpec("int({0}.shape[0] ** 0.5)", lambda kind: int(_size(kind, 0) ** 0.5)),
}
"""Python ints read from the metadata of tensors."""

COMPUTED_MEASURES = ("floor_half", "rounded_half", "quotient", "least", "most", "whole_root")
"""The measures that are results of Python arithmetic."""

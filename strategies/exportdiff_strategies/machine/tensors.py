"""Making tensors: fresh ones, filled ones, and their memory layouts."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.ops import forbid, require
from exportdiff_strategies.types import TensorType, contiguous_stride, dense, expanded, inexact, swap
from exportdiff_strategies.values import Storage, TensorValue, ViewFamily

LAYOUTS = ("transposed", "sliced", "offset", "expanded", "windows", "real", "negative", "conjugate")
"""The memory layouts, except for the plain one: row-major, from the start of the storage.

``windows`` overlap each other; ``real`` and ``negative`` are parts of complex numbers, of which the second is
negated when it is read; ``conjugate`` is conjugated when it is read.
"""

LAZY = ("negative", "conjugate")
"""The layouts of tensors whose memory holds other values than they have."""


def laid_out(shape: tuple[int, ...], dtype: str, layout: str) -> TensorType:
    """The type of a tensor with this layout. Raises Rejected if the shape does not allow the layout."""
    kind = dense(shape, dtype)
    if layout == "transposed":
        require(len(shape) == 2, "only matrices are transposed")
        return swap(dense(shape[::-1], dtype), 0, 1)
    if layout == "sliced":
        require(shape, "no dimension to slice")
        wide = contiguous_stride((*shape[:-1], 2 * shape[-1]))
        return TensorType(shape, (*wide[:-1], 2), dtype)
    forbid(layout == "offset" and not shape, "no dimension to skip an element of")
    if layout == "expanded":
        forbid(not shape or shape[0] == 0, "no dimension to expand")
        return expanded(dense((1, *shape[1:]), dtype), 0, shape[0])
    if layout == "windows":
        forbid(len(shape) != 2 or 0 in shape, "only the rows of a matrix are windows")
        return TensorType(shape, (1, 1), dtype)
    if layout in ("real", "negative"):
        require(dtype == "float32", "not the dtype of a part of a complex number")
        return TensorType(shape, tuple(2 * step for step in contiguous_stride(shape)), dtype)
    forbid(layout == "conjugate" and dtype != "complex64", "only complex numbers are conjugated")
    return kind


def new_tensor(
    kind: TensorType,
    slot: str = "",
    bound: float = 2.0,
    grad: bool = False,
    frozen: bool = False,
    history: str = "",
    lazy: bool = False,
) -> TensorValue:
    """A tensor with its own memory.

    It is a leaf of autograd if it is a parameter that is not ``frozen``, or (``grad``) an input that requires
    grad; ``history`` as in TensorInput, ``lazy`` as in TensorValue.
    """
    leaf = (slot == "parameter" and inexact(kind.dtype) and not frozen) or grad
    return TensorValue(
        kind, Storage(bound, slot), ViewFamily(leaf, leaf and history != "computed"), lazy=lazy
    )


def bound_of(fill: ir.Fill) -> float:
    """The bound on the values that a Fill describes."""
    if fill.high is not None and not inexact(fill.dtype):
        return 2.0  # the source makes such a tensor of the numbers 0, 1 and 2
    return max(abs(fill.low), abs(fill.high if fill.high is not None else fill.low), 1.0)


def filled_tensor(fill: ir.Fill, slot: str = "", frozen: bool = False, layout: str = "") -> TensorValue:
    """The tensor that a Fill describes, in a layout."""
    kind = laid_out(fill.shape, fill.dtype, layout)
    # A parameter is what its data are, and no view of them.
    return new_tensor(kind, slot, bound_of(fill), frozen=frozen, lazy=layout in LAZY)

"""Views: other sizes and strides on the same memory, and ops that return a view if memory allows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations

from exportdiff_strategies.ops.basic_index import indexed, indices
from exportdiff_strategies.ops.rules import (
    RANK,
    Change,
    axis,
    dims,
    fitting,
    gaps,
    guided,
    integer,
    integers,
    itself,
    pairs,
    places,
    singles,
    slices,
    viewing,
)
from exportdiff_strategies.ops.spec import (
    Choices,
    Operand,
    OpResult,
    OpSpec,
    Params,
    Rejected,
    no_params,
    require,
)
from exportdiff_strategies.types import (
    Shape,
    TensorType,
    aligned,
    contiguous_stride,
    dense,
    drop,
    expanded,
    insert,
    numel,
    permuted,
    resized,
    swap,
    viewed,
)

# --- changes of the type, which the in-place forms share --------------------------------------------------


def swapped(kind: TensorType, params: Params) -> TensorType:
    """``transpose(a, b)``."""
    return swap(kind, axis(kind, params[0]), axis(kind, params[1]))


def turned(kind: TensorType, params: Params) -> TensorType:
    """``t()``."""
    require(len(kind.shape) == 2, "t() is for matrices")
    return swap(kind, 0, 1)


def squeezed(kind: TensorType, params: Params) -> TensorType:
    """``squeeze(dim)``, if the dimension has size 1."""
    dim = axis(kind, params[0])
    require(kind.shape[dim] == 1, "nothing to squeeze")
    return drop(kind, dim)


def squeezed_all(kind: TensorType, params: Params) -> TensorType:
    """``squeeze()``, if there is a dimension of size 1."""
    require(1 in kind.shape, "nothing to squeeze")
    for dim in reversed(range(len(kind.shape))):
        if kind.shape[dim] == 1:
            kind = drop(kind, dim)
    return kind


def unsqueezed(kind: TensorType, params: Params) -> TensorType:
    """``unsqueeze(dim)``."""
    require(len(kind.shape) < RANK and integer(params[0]) <= len(kind.shape), "rank")
    return insert(kind, integer(params[0]))


def row(kind: TensorType, params: Params) -> TensorType:
    """``x[i]``."""
    require(len(kind.shape) > 0 and integer(params[0]) < kind.shape[0], "index out of range")
    return drop(kind, 0)


def rows(kind: TensorType, params: Params) -> TensorType:
    """``x[a:b]``."""
    start, stop = integer(params[0]), integer(params[1])
    require(len(kind.shape) > 0 and stop <= kind.shape[0], "slice out of range")
    return resized(kind, 0, stop - start)


def stepped(kind: TensorType, params: Params) -> TensorType:
    """``x[::2]``."""
    require(len(kind.shape) > 0)
    return resized(kind, 0, (kind.shape[0] + 1) // 2, 2)


def _flipped(kind: TensorType, params: Params) -> TensorType:
    require(len(kind.shape) >= 2)
    return swap(kind, len(kind.shape) - 2, len(kind.shape) - 1)


def _permuted(kind: TensorType, params: Params) -> TensorType:
    order = integers(params[0])
    require(len(order) == len(kind.shape))
    return permuted(kind, order)


def _moved(kind: TensorType, params: Params) -> TensorType:
    source, target = axis(kind, params[0]), axis(kind, params[1])
    order = [dim for dim in range(len(kind.shape)) if dim != source]
    order.insert(target, source)
    return permuted(kind, tuple(order))


def _selected(kind: TensorType, params: Params) -> TensorType:
    dim = axis(kind, params[0])
    require(integer(params[1]) < kind.shape[dim])
    return drop(kind, dim)


def _narrowed(kind: TensorType, params: Params) -> TensorType:
    dim, start, length = axis(kind, params[0]), integer(params[1]), integer(params[2])
    require(start + length <= kind.shape[dim])
    return resized(kind, dim, length)


def _diagonal(kind: TensorType, params: Params) -> TensorType:
    require(len(kind.shape) >= 2)
    first, second, *rest = kind.shape
    stride = kind.stride and (*kind.stride[2:], kind.stride[0] + kind.stride[1])
    return TensorType((*rest, min(first, second)), stride, kind.dtype)


def _unfolded(kind: TensorType, params: Params) -> TensorType:
    dim, size = axis(kind, params[0]), integer(params[1])
    require(size <= kind.shape[dim] and len(kind.shape) < RANK)
    windows = resized(kind, dim, kind.shape[dim] - size + 1)
    stride = windows.stride and kind.stride and (*windows.stride, kind.stride[dim])
    return TensorType((*windows.shape, size), stride, kind.dtype)


def as_view(kind: TensorType, shape: Shape) -> TensorType:
    """``x.view(shape)``. Raises Rejected if memory does not allow it."""
    found = viewed(kind, shape)
    if found is None:
        raise Rejected("not viewable")
    return found


def _unflattened(kind: TensorType, params: Params) -> TensorType:
    dim = axis(kind, params[0])
    size = kind.shape[dim]
    require(size > 0 and size % 2 == 0 and len(kind.shape) < RANK)
    return as_view(kind, (*kind.shape[:dim], 2, size // 2, *kind.shape[dim + 1 :]))


def _expanded(kind: TensorType, params: Params) -> TensorType:
    dim, shape = axis(kind, params[0]), integers(params[1])
    require(kind.stride is not None, "strides unknown")
    fits = resized(kind, dim, 1).shape == kind.shape and resized(kind, dim, shape[dim]).shape == shape
    require(fits, "only a dimension of size 1 expands")
    return expanded(kind, dim, shape[dim])


def strided(kind: TensorType, params: Params) -> TensorType:
    """The same elements, read with other sizes and strides."""
    shape, stride = integers(params[0]), integers(params[1])
    require(kind.contiguous and 0 not in shape and numel(shape) == kind.numel)
    return TensorType(shape, stride, kind.dtype)


def _part(size: Callable[[int], int]) -> Change:
    """A part of one dimension; its size depends on the size of the dimension."""

    def change(kind: TensorType, params: Params) -> TensorType:
        dim = axis(kind, params[0])
        require(size(kind.shape[dim]) > 0)
        return resized(kind, dim, size(kind.shape[dim]))

    return change


def whole(kind: TensorType, params: Params) -> TensorType:
    """``x[...]``."""
    return kind


# --- rules with two operands, or that do not always give a view -------------------------------------------


def reshaped(operand: Operand, shape: Shape) -> OpResult:
    """``x.reshape(shape)``: a view if memory allows it."""
    found = viewed(operand.type, shape)
    if found is not None:
        return OpResult(found, operand.bound, alias=True)
    require(operand.type.stride is not None and operand.type.numel == numel(shape), "not reshapable")
    return OpResult(dense(shape, operand.type.dtype), operand.bound)


def _flatten(operands: Sequence[Operand], params: Params) -> OpResult:
    kind = operands[0].type
    return itself(operands[0]) if len(kind.shape) == 1 else reshaped(operands[0], (kind.numel,))


def _view_as(operands: Sequence[Operand], params: Params) -> OpResult:
    return OpResult(as_view(operands[0].type, operands[1].type.shape), operands[0].bound, alias=True)


def _expand_as(operands: Sequence[Operand], params: Params) -> OpResult:
    kind, shape = operands[0].type, operands[1].type.shape
    if kind.stride is None:
        raise Rejected("strides unknown")
    fitting(shape, kind.shape)
    return OpResult(TensorType(shape, aligned(kind, shape), kind.dtype), operands[0].bound, alias=True)


# --- choices ----------------------------------------------------------------------------------------------


def _orders(operands: Sequence[Operand]) -> list[Params]:
    rank = len(operands[0].type.shape)
    found: list[Params] = [(order,) for order in permutations(range(rank)) if order != tuple(range(rank))]
    return found[:8]


def _moves(operands: Sequence[Operand]) -> list[Params]:
    rank = len(operands[0].type.shape)
    return [(a, b) for a in range(rank) for b in range(rank) if a != b]


def _selections(operands: Sequence[Operand]) -> list[Params]:
    shape = operands[0].type.shape
    return [(dim, index) for dim in range(len(shape)) for index in range(min(shape[dim], 3))]


def _ranges(operands: Sequence[Operand]) -> list[Params]:
    shape = operands[0].type.shape
    found: list[Params] = [(dim, 0, size - 1) for dim, size in enumerate(shape) if size > 1]
    return found + [(d, start, n - start) for d, n in enumerate(shape) for start in range(1, min(n, 3))]


def _windows(operands: Sequence[Operand]) -> list[Params]:
    return [(dim, size) for dim, n in enumerate(operands[0].type.shape) for size in range(1, min(n, 3) + 1)]


def shapes(operands: Sequence[Operand]) -> list[Params]:
    """Other shapes with as many elements."""
    kind = operands[0].type
    found: list[Shape] = [(kind.numel,), (1, kind.numel), kind.shape[::-1]]
    return [(shape,) for shape in dict.fromkeys(found) if shape != kind.shape]


def _expansions(operands: Sequence[Operand]) -> list[Params]:
    kind = operands[0].type
    return [(d, resized(kind, d, n).shape) for d, size in enumerate(kind.shape) if size == 1 for n in (2, 3)]


def reversals(operands: Sequence[Operand]) -> list[Params]:
    """Sizes and strides that read a row-major tensor transposed."""
    kind = operands[0].type
    if len(kind.shape) < 2 or 0 in kind.shape:
        return []
    return [(kind.shape[::-1], contiguous_stride(kind.shape)[::-1])]


def _views(template: str, change: Change, choices: Choices = no_params, multi: bool = False) -> OpSpec:
    return OpSpec(template, "view", 1, viewing(change), choices, multi=multi)


TABLE: dict[str, OpSpec] = {
    "t": _views("{0}.t()", turned),
    "row": _views("{0}[{p[0]}]", row, places),
    "rows": _views("{0}[{p[0]}:{p[1]}]", rows, slices),
    "transpose": _views("{0}.transpose({p[0]}, {p[1]})", swapped, pairs),
    "unsqueeze": _views("{0}.unsqueeze({p[0]})", unsqueezed, gaps),
    "squeeze": _views("{0}.squeeze({p[0]})", squeezed, singles),
    "view": _views("{0}.view({p[0]})", lambda kind, p: as_view(kind, integers(p[0])), shapes),
    "reshape": OpSpec("{0}.reshape({p[0]})", "view", 1, lambda x, p: reshaped(x[0], integers(p[0])), shapes),
    "detach": OpSpec("{0}.detach()", "view", 1, viewing(whole), stops_grad=True),
    "expand": _views("{0}.expand({p[1]})", _expanded, _expansions),
    "index": _views("{0}[{p[0]}]", indexed, indices),
    "ellipsis": _views("{0}[...]", whole),
    "new_axis": _views("{0}[None]", lambda kind, params: unsqueezed(kind, (0,))),
    "step": _views("{0}[::2]", stepped),
    "turned": _views("{0}.T", turned),
    "flipped": _views("{0}.mT", _flipped),
    "permute": _views("{0}.permute({p[0]})", _permuted, _orders),
    "swapaxes": _views("{0}.swapaxes({p[0]}, {p[1]})", swapped, pairs),
    "movedim": _views("{0}.movedim({p[0]}, {p[1]})", _moved, _moves),
    "squeeze_all": _views("{0}.squeeze()", squeezed_all),
    "flatten": OpSpec("{0}.flatten()", "view", 1, _flatten),
    "unflatten": _views("{0}.unflatten({p[0]}, (2, -1))", _unflattened, dims),
    "select": _views("{0}.select({p[0]}, {p[1]})", _selected, _selections),
    "narrow": _views("{0}.narrow({p[0]}, {p[1]}, {p[2]})", _narrowed, _ranges),
    "diagonal": _views("{0}.diagonal()", _diagonal),
    "unfold": _views("{0}.unfold({p[0]}, {p[1]}, 1)", _unfolded, _windows),
    "split": _views("{0}.split(1, {p[0]})[0]", _part(lambda n: min(n, 1)), dims, multi=True),
    "chunk": _views("{0}.chunk(2, {p[0]})[0]", _part(lambda n: (n + 1) // 2), dims, multi=True),
    "last_chunk": _views("{0}.chunk(2, {p[0]})[1]", _part(lambda n: n // 2), dims, multi=True),
    "unbind": _views(
        "{0}.unbind({p[0]})[0]", lambda kind, params: _selected(kind, (params[0], 0)), dims, multi=True
    ),
    "as_strided": _views("{0}.as_strided({p[0]}, {p[1]})", strided, reversals),
    "view_dtype": OpSpec("{0}.view({0}.dtype)", "view", 1, viewing(whole), stops_grad=True, of_memory=True),
    "data": OpSpec("{0}.data", "view", 1, viewing(whole), stops_grad=True),
    "expand_as": OpSpec("{0}.expand_as({1})", "view", 2, guided(_expand_as)),
    "view_as": OpSpec("{0}.view_as({1})", "view", 2, guided(_view_as)),
    "reshape_as": OpSpec(
        "{0}.reshape_as({1})", "view", 2, guided(lambda x, p: reshaped(x[0], x[1].type.shape))
    ),
}

TURNS = ("t", "transpose", "swapaxes", "permute", "movedim")
"""The transposing views: these change the order of dimensions in memory."""

"""Tensor types: the sizes, strides and dtype of a tensor, and the arithmetic of shapes and dtypes.

The functions follow torch to the bit, without torch: for example, ``promote`` is ``torch.result_type``, and
``viewed`` says whether ``x.view(shape)`` is possible, and with which strides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

Shape = tuple[int, ...]
Stride = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TensorType:
    """Sizes, strides and dtype of a tensor; ``stride`` is None if only eager can decide it."""

    shape: Shape
    stride: Stride | None = None
    dtype: str = "float32"

    @property
    def numel(self) -> int:
        """Number of elements."""
        return numel(self.shape)

    @property
    def contiguous(self) -> bool | None:
        """The result of ``is_contiguous()``, or None if the strides are unknown."""
        if 0 in self.shape:
            return True
        if self.stride is None:
            return None
        step = 1
        for size, stride in zip(reversed(self.shape), reversed(self.stride), strict=True):
            if size != 1:
                if stride != step:
                    return False
                step *= size
        return True

    @property
    def overlaps(self) -> bool:
        """Whether two indices may share a memory location (an expanded dimension, overlapping windows)."""
        if self.stride is None or 0 in self.shape:
            return False
        reach = 0
        for stride, size in sorted(zip(self.stride, self.shape, strict=True)):
            if size > 1:
                if stride <= reach:
                    return True
                reach += (size - 1) * stride
        return False

    @property
    def packed(self) -> bool:
        """Whether the elements fill their memory without holes, in any order of dimensions."""
        if self.stride is None:
            return False
        step = 1
        for stride, size in sorted(zip(self.stride, self.shape, strict=True)):
            if size > 1:
                if stride != step:
                    return False
                step *= size
        return True


def numel(shape: Shape) -> int:
    """Number of elements of a shape."""
    return math.prod(shape)


# --- dtypes ---------------------------------------------------------------------------------------------

_CATEGORIES = {
    "bool": "bool",
    "int32": "int",
    "int64": "int",
    "float16": "float",
    "bfloat16": "float",
    "float32": "float",
    "float64": "float",
    "complex64": "complex",
}
DTYPES = tuple(_CATEGORIES)
"""The dtypes of tensors, in the order in which promotion prefers them."""

DEFAULT = "float32"
"""The dtype that a Python float becomes, and that a true division of integers gives."""

_RANKS = ("bool", "int", "float", "complex")
_SCALARS: dict[type, str] = {bool: "bool", int: "int64", float: DEFAULT, complex: "complex64"}
UNSETTLED = "bcomplex32"
"""What bfloat16 becomes with a complex number or a complex tensor without dimensions, since torch 2.14.

Older ones have no such dtype, and make it complex64."""

_WIDER = {"complex32": "complex", "complex128": "complex", UNSETTLED: "complex"}
"""Dtype -> category, for dtypes that are not in DTYPES but may result from promotion."""


def category(dtype: str) -> str:
    """The category of a dtype: bool, int, float or complex."""
    return _CATEGORIES.get(dtype) or _WIDER[dtype]


def inexact(dtype: str) -> bool:
    """Whether tensors of this dtype can require grad."""
    return category(dtype) in ("float", "complex")


def castable(source: str, target: str) -> bool:
    """``torch.can_cast``: whether an in-place op may write a result of dtype ``source`` to ``target``."""
    return _RANKS.index(category(source)) <= _RANKS.index(category(target))


def _pair(first: str, second: str) -> str:
    """``torch.promote_types``."""
    if first == second:
        return first
    pair = {first, second}
    if pair == {"float16", "bfloat16"}:
        return "float32"
    if pair == {"float64", "complex64"}:
        return "complex128"
    return max(first, second, key=DTYPES.index)


_PAIRS = {(a, b): _pair(a, b) for a in DTYPES for b in DTYPES}
_COMPLEX = {"float16": "complex32", "bfloat16": UNSETTLED, "float32": "complex64", "float64": "complex128"}


def _prefer(higher: str, lower: str) -> str:
    """Promote operands of two priorities: the lower priority only counts if its category is higher."""
    if not higher or not lower:
        return higher or lower
    high, low = category(higher), category(lower)
    if high == "float" and low == "complex":
        return _COMPLEX[higher]
    if _RANKS.index(low) > _RANKS.index(high):
        return lower
    return higher


def promote(*parts: TensorType | complex) -> str:
    """``torch.result_type`` of tensors and Python numbers; it may be a complex dtype that is not in DTYPES.

    Tensors with dimensions come before those without, and those before Python numbers.
    """
    levels = ["", "", ""]
    for part in parts:
        if isinstance(part, TensorType):
            level, dtype = (0 if part.shape else 1), part.dtype
        else:
            level, dtype = 2, _SCALARS[type(part)]
        levels[level] = _PAIRS[levels[level], dtype] if levels[level] else dtype
    if not levels[1] and not levels[2]:
        return levels[0]
    return _prefer(levels[0], _prefer(levels[1], levels[2]))


# --- shapes and strides ---------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def contiguous_stride(shape: Shape) -> Stride:
    """Row-major strides, as those of ``torch.empty(shape)``."""
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def dense(shape: Shape, dtype: str = DEFAULT) -> TensorType:
    """The type of a new row-major tensor."""
    return TensorType(shape, contiguous_stride(shape), dtype)


def fresh(shape: Shape, dtype: str = DEFAULT) -> TensorType:
    """The type of a new tensor with strides that eager decides: only known if there is no choice."""
    if sum(size > 1 for size in shape) < 2 and 0 not in shape:
        return dense(shape, dtype)
    return TensorType(shape, None, dtype)


def broadcast(first: Shape, second: Shape) -> Shape | None:
    """The broadcast shape of two shapes, or None if they do not broadcast."""
    if first == second:
        return first
    rank = max(len(first), len(second))
    sizes = []
    for a, b in zip((1,) * (rank - len(first)) + first, (1,) * (rank - len(second)) + second, strict=True):
        if a != b and 1 not in (a, b):
            return None
        sizes.append(b if a == 1 else a)
    return tuple(sizes)


def swap(kind: TensorType, first: int, second: int) -> TensorType:
    """The type of ``x.transpose(first, second)``."""
    order = list(range(len(kind.shape)))
    order[first], order[second] = order[second], order[first]
    return permuted(kind, tuple(order))


def permuted(kind: TensorType, order: tuple[int, ...]) -> TensorType:
    """The type of ``x.permute(order)``."""
    stride = None if kind.stride is None else tuple(kind.stride[i] for i in order)
    return TensorType(tuple(kind.shape[i] for i in order), stride, kind.dtype)


def drop(kind: TensorType, dim: int) -> TensorType:
    """The type of ``x.select(dim, i)``, and of ``x.squeeze(dim)`` if that size is 1."""
    stride = None if kind.stride is None else kind.stride[:dim] + kind.stride[dim + 1 :]
    return TensorType(kind.shape[:dim] + kind.shape[dim + 1 :], stride, kind.dtype)


def insert(kind: TensorType, dim: int) -> TensorType:
    """The type of ``x.unsqueeze(dim)``."""
    shape = (*kind.shape[:dim], 1, *kind.shape[dim:])
    if kind.stride is None:
        return TensorType(shape, None, kind.dtype)
    step = 1 if dim == len(kind.shape) else kind.shape[dim] * kind.stride[dim]
    return TensorType(shape, (*kind.stride[:dim], step, *kind.stride[dim:]), kind.dtype)


def resized(kind: TensorType, dim: int, size: int, step: int = 1) -> TensorType:
    """The type of a slice that keeps ``size`` elements of one dimension, every ``step``-th one."""
    stride = kind.stride
    if stride is not None and step != 1:
        stride = (*stride[:dim], stride[dim] * step, *stride[dim + 1 :])
    return TensorType((*kind.shape[:dim], size, *kind.shape[dim + 1 :]), stride, kind.dtype)


def expanded(kind: TensorType, dim: int, size: int) -> TensorType:
    """The type of ``x.expand``, for one dimension of size 1."""
    stride = kind.stride
    if stride is not None:
        stride = (*stride[:dim], 0, *stride[dim + 1 :])
    return TensorType((*kind.shape[:dim], size, *kind.shape[dim + 1 :]), stride, kind.dtype)


def viewed(kind: TensorType, shape: Shape) -> TensorType | None:
    """The type of ``x.view(shape)``, or None if memory does not allow it or the strides are unknown.

    This follows ``computeStride`` of ATen: dimensions that are adjacent in memory can be divided differently.
    """
    if numel(shape) != kind.numel or kind.stride is None:
        return None
    if 0 in shape:
        return TensorType(shape, kind.stride if shape == kind.shape else contiguous_stride(shape), kind.dtype)
    if not kind.shape:
        return dense(shape, kind.dtype)
    strides = [0] * len(shape)
    place = len(shape) - 1
    base, run, done = kind.stride[-1], 1, 1
    for dim in reversed(range(len(kind.shape))):
        run *= kind.shape[dim]
        if dim and (kind.shape[dim - 1] == 1 or kind.stride[dim - 1] == run * base):
            continue
        while place >= 0 and (done < run or shape[place] == 1):
            strides[place] = done * base
            done *= shape[place]
            place -= 1
        if done != run:
            return None
        if dim:
            base, run, done = kind.stride[dim - 1], 1, 1
    return TensorType(shape, tuple(strides), kind.dtype) if place < 0 else None


@lru_cache(maxsize=8192)
def pointwise(kinds: tuple[TensorType, ...], common: str = "") -> tuple[Shape, Stride | None] | None:
    """Sizes and strides of a new tensor that an elementwise op makes; None if the sizes do not broadcast.

    ``common`` is the dtype that the op computes in, if it is not the promoted dtype of the operands. This
    follows ``TensorIterator`` of ATen, which keeps the memory order of the operands.
    """
    shape = kinds[0].shape
    for kind in kinds[1:]:
        joint = broadcast(shape, kind.shape)
        if joint is None:
            return None
        shape = joint
    return shape, _pointwise_stride(shape, kinds, common or kinds[0].dtype)


def elementwise_stride(kind: TensorType) -> Stride | None:
    """Strides of what an elementwise op makes of one tensor; None: not known."""
    return _pointwise_stride(kind.shape, (kind,), kind.dtype)


def _pointwise_stride(shape: Shape, kinds: tuple[TensorType, ...], common: str) -> Stride | None:
    alike = all(kind.shape == shape for kind in kinds)
    if 0 in shape:
        plain = contiguous_stride(shape)
        return plain if alike and all(kind.stride == plain for kind in kinds) else None
    if sum(size != 1 for size in shape) < 2 or (alike and all(kind.contiguous for kind in kinds)):
        return contiguous_stride(shape)
    if any(kind.stride is None for kind in kinds):
        return None
    if alike and all(kind.packed and kind.stride == kinds[0].stride for kind in kinds):
        return kinds[0].stride
    # An operand of another dtype is converted first, which may change its memory layout.
    mixed = len(kinds) > 1 and any(kind.dtype != common for kind in kinds)
    if mixed and not all(kind.packed for kind in kinds):
        return None
    return _ordered(shape, [aligned(kind, shape) for kind in kinds])


def aligned(kind: TensorType, shape: Shape) -> Stride:
    """The known strides of an operand in the broadcast shape: 0 if a dimension is repeated."""
    assert kind.stride is not None
    missing = len(shape) - len(kind.shape)
    own = (
        0 if size == 1 and shape[missing + dim] != 1 else stride
        for dim, (size, stride) in enumerate(zip(kind.shape, kind.stride, strict=True))
    )
    return (*(0,) * missing, *own)


def _ordered(shape: Shape, strides: list[Stride]) -> Stride:
    """The strides of a packed tensor with the operands' order of dimensions in memory."""
    order = list(reversed(range(len(shape))))
    for start in range(1, len(shape)):
        current = start
        for other in range(start - 1, -1, -1):
            verdict = _compare(order[other], order[current], shape, strides)
            if verdict > 0:
                order[other], order[current] = order[current], order[other]
                current = other
            elif verdict < 0:
                break
    result = [0] * len(shape)
    step = 1
    for dim in order:
        result[dim] = step
        step *= shape[dim]
    return tuple(result)


def _compare(first: int, second: int, shape: Shape, strides: list[Stride]) -> int:
    """Above 0 if dimension ``first`` is the outer one, below 0 if it is the inner one, 0 if undecided."""
    for stride in strides:
        a, b = stride[first], stride[second]
        if not a or not b:
            continue
        if a != b:
            return 1 if a > b else -1
        if shape[first] > shape[second]:
            return 1
    return 0

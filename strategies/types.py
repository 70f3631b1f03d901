"""Tensor types: what is known of a tensor without running it, and the shape arithmetic on them."""

from __future__ import annotations

from dataclasses import dataclass

Shape = tuple[int, ...]
Stride = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TensorType:
    """Sizes and strides of a tensor; ``stride`` is None where eager alone decides on it."""

    shape: Shape
    stride: Stride | None = None

    @property
    def numel(self) -> int:
        """Number of elements."""
        return numel(self.shape)

    @property
    def contiguous(self) -> bool | None:
        """What ``is_contiguous()`` says, or None where the strides are unknown."""
        if self.stride is None:
            return None
        return all(
            size == 1 or have == want
            for size, have, want in zip(self.shape, self.stride, contiguous_stride(self.shape), strict=True)
        )

    @property
    def overlaps(self) -> bool:
        """Whether two indices may name one memory location (an expanded dimension)."""
        if self.stride is None:
            return False
        return any(n > 1 and s == 0 for n, s in zip(self.shape, self.stride, strict=True))


def numel(shape: Shape) -> int:
    """Number of elements of a shape."""
    count = 1
    for size in shape:
        count *= size
    return count


def contiguous_stride(shape: Shape) -> Stride:
    """Row-major strides, as ``torch.empty(shape)`` has them."""
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def dense(shape: Shape) -> TensorType:
    """The type of a fresh row-major tensor."""
    return TensorType(shape, contiguous_stride(shape))


def broadcast(first: Shape, second: Shape) -> Shape | None:
    """The broadcast shape of two shapes, or None where they do not go together."""
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
    stride = None if kind.stride is None else tuple(kind.stride[i] for i in order)
    return TensorType(tuple(kind.shape[i] for i in order), stride)


def drop(kind: TensorType, dim: int) -> TensorType:
    """The type of ``x.select(dim, i)``, and of ``x.squeeze(dim)`` where that size is 1."""
    stride = None if kind.stride is None else kind.stride[:dim] + kind.stride[dim + 1 :]
    return TensorType(kind.shape[:dim] + kind.shape[dim + 1 :], stride)


def insert(kind: TensorType, dim: int) -> TensorType:
    """The type of ``x.unsqueeze(dim)``."""
    shape = (*kind.shape[:dim], 1, *kind.shape[dim:])
    if kind.stride is None:
        return TensorType(shape)
    step = 1 if dim == len(kind.shape) else kind.shape[dim] * kind.stride[dim]
    return TensorType(shape, (*kind.stride[:dim], step, *kind.stride[dim:]))


def resized(kind: TensorType, dim: int, size: int) -> TensorType:
    """The type of a slice that keeps ``size`` elements of one dimension."""
    return TensorType((*kind.shape[:dim], size, *kind.shape[dim + 1 :]), kind.stride)


def expanded(kind: TensorType, dim: int, size: int) -> TensorType:
    """The type of ``x.expand`` of a dimension of size 1."""
    stride = kind.stride
    if stride is not None:
        stride = (*stride[:dim], 0, *stride[dim + 1 :])
    return TensorType((*kind.shape[:dim], size, *kind.shape[dim + 1 :]), stride)

"""Rules of layers that are built for the size of the last dimension."""

from __future__ import annotations

import math

from exportdiff_strategies.layers.spec import (
    LayerParams,
    Tensors,
    check_dtype,
    dtype_of,
    require,
    size_of,
    with_dtype,
)
from exportdiff_strategies.ops import Operand, Outcome
from exportdiff_strategies.types import dense, fresh


def last_size(x: Operand, training: bool) -> list[LayerParams]:
    """Choices of a layer that keeps the size of the last dimension."""
    shape = x.type.shape
    return with_dtype(x, shape[-1]) if shape and 0 not in shape else []


def check_last_size(x: Operand, params: LayerParams) -> int:
    """The size of the last dimension. Raises Rejected unless it is the layer's."""
    shape = x.type.shape
    check_dtype(x, params)
    require(len(shape) > 0 and 0 not in shape and shape[-1] == params[0])
    return shape[-1]


def linear_sizes(x: Operand, training: bool) -> list[LayerParams]:
    """Choices of a linear layer, square ones first: such a layer can be called again on its own result."""
    sizes = [(size, out) for size in x.type.shape[-1:] for out in (size, 2, 3)]
    if 0 in x.type.shape:
        return []
    return [params for pair in dict.fromkeys(sizes) for params in with_dtype(x, *pair)]


def linear(x: Operand, params: LayerParams, training: bool) -> Outcome:
    """A linear layer."""
    size, out = check_last_size(x, params), size_of(params[1])
    shape = (*x.type.shape[:-1], out)
    maker = dense if x.type.contiguous or len(shape) < 3 else fresh
    return Outcome(maker(shape, x.type.dtype), x.bound * size + 1)


def linear_tensors(params: LayerParams) -> Tensors:
    """Weight and bias of a linear layer."""
    size, out, dtype = size_of(params[0]), size_of(params[1]), dtype_of(params)
    return {
        "weight": ("parameter", dense((out, size), dtype), 1.0),
        "bias": ("parameter", dense((out,), dtype), 1.0),
    }


def last_norm(x: Operand, params: LayerParams, training: bool) -> Outcome:
    """A normalization over the last dimension."""
    size = check_last_size(x, params)
    return Outcome(dense(x.type.shape, x.type.dtype), math.sqrt(size) + 1)


def affine(params: LayerParams) -> Tensors:
    """Weight and bias of a normalization."""
    one = dense((size_of(params[0]),), dtype_of(params))
    return {"weight": ("parameter", one, 1.0), "bias": ("parameter", one, 1.0)}


def weight_only(params: LayerParams) -> Tensors:
    """The weight of a normalization without bias."""
    return {"weight": ("parameter", dense((size_of(params[0]),), dtype_of(params)), 1.0)}

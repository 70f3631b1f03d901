"""Rules of layers that are built for the number of channels."""

from __future__ import annotations

import math
from collections.abc import Mapping

from exportdiff_strategies.layers.last_dimension import affine
from exportdiff_strategies.layers.spec import (
    SUFFIXES,
    LayerParams,
    LayerSpec,
    Tensors,
    dtype_of,
    require,
    size_of,
    with_dtype,
)
from exportdiff_strategies.ops import Operand, Outcome
from exportdiff_strategies.types import Shape, dense, fresh


def channels_of(x: Operand, *ranks: int) -> int:
    """The number of channels (dimension 1) of an input with a batch dimension; 0 if the
    input does not fit.
    """
    shape = x.type.shape
    return shape[1] if len(shape) in ranks and 0 not in shape and x.type.dtype in SUFFIXES else 0


def batch_sizes(x: Operand, training: bool) -> list[LayerParams]:
    """Choices of a batch norm."""
    size = channels_of(x, 2, 3)
    # Train mode knows no variance of a single value.
    if not size or (training and x.type.numel == size):
        return []
    return with_dtype(x, size)


def group_sizes(x: Operand, training: bool) -> list[LayerParams]:
    """Choices of a group norm."""
    size = channels_of(x, 2, 3, 4)
    return with_dtype(x, size) if size and x.type.numel > 1 else []


def batch_norm(x: Operand, params: LayerParams, training: bool) -> Outcome:
    """A batch norm."""
    require(params in batch_sizes(x, training))
    # In eval mode the running statistics are the initial ones, 0 and 1.
    bound = math.sqrt(x.type.numel) if training else x.bound
    return Outcome(fresh(x.type.shape, x.type.dtype), bound + 1)


def batch_tensors(params: LayerParams) -> Tensors:
    """Parameters and buffers of a batch norm."""
    one = dense((size_of(params[0]),), dtype_of(params))
    return {
        **affine(params),
        "running_mean": ("buffer", one, 0.0),
        "running_var": ("buffer", one, 1.0),
        "num_batches_tracked": ("buffer", dense((), "int64"), 0.0),
    }


def batch_updates(x: Operand, params: LayerParams) -> Mapping[str, float]:
    """The bounds of the running statistics after calls in train mode."""
    return {
        "running_mean": x.bound,
        "running_var": 2 * x.bound * x.bound + 1,
        "num_batches_tracked": 100.0,
    }


def group_norm(x: Operand, params: LayerParams, training: bool) -> Outcome:
    """A group norm with one group."""
    require(params in group_sizes(x, training))
    return Outcome(fresh(x.type.shape, x.type.dtype), math.sqrt(x.type.numel) + 1)


def conv(rank: int) -> LayerSpec:
    """A convolution with a kernel of size 1 or 2, and with as many output channels as input
    channels, or 2.
    """

    def choices(x: Operand, training: bool) -> list[LayerParams]:
        shape = x.type.shape
        if len(shape) not in (rank + 1, rank + 2) or 0 in shape:
            return []
        channels = shape[-rank - 1]
        kernels = (1, 2) if min(shape[-rank:]) > 1 else (1,)
        return [p for out in sorted({channels, 2}) for k in kernels for p in with_dtype(x, channels, out, k)]

    def rule(x: Operand, params: LayerParams, training: bool) -> Outcome:
        require(params in choices(x, training))
        channels, out, kernel = (size_of(value) for value in params[:3])
        sizes = tuple(size - kernel + 1 for size in x.type.shape[-rank:])
        shape = (*x.type.shape[: -rank - 1], out, *sizes)
        return Outcome(fresh(shape, x.type.dtype), x.bound * channels * kernel**rank + 1)

    def tensors(params: LayerParams) -> Tensors:
        channels, out, kernel = (size_of(value) for value in params[:3])
        shape: Shape = (out, channels, *(kernel,) * rank)
        return {
            "weight": ("parameter", dense(shape, dtype_of(params)), 1.0),
            "bias": ("parameter", dense((out,), dtype_of(params)), 1.0),
        }

    template = f"nn.Conv{rank}d({{p[0]}}, {{p[1]}}, {{p[2]}}{{p[3]}})"
    return LayerSpec(template, choices, rule, random=True, lowers=True, tensors=tensors)

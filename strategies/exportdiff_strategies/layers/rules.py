"""What the layers return for an input that their params fit. A rule raises Rejected for other inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from exportdiff_strategies.layers.spec import LayerParams, size_of
from exportdiff_strategies.ops import Operand, OpResult, require
from exportdiff_strategies.types import TensorType, dense, fresh, numel, pointwise

Rule = Callable[[Operand, LayerParams, bool], OpResult]
"""From the input, the params and the train mode to the outcome."""

NORMAL = 6.0
"""No value drawn from the normal distribution exceeds this."""


def same_shape(bound: Callable[[Operand], float], row_major: bool = False) -> Rule:
    """Make the rule of a layer that returns a new tensor of the same shape, with values up to ``bound``."""
    maker = dense if row_major else fresh
    return lambda x, params, training: OpResult(maker(x.type.shape, x.type.dtype), bound(x))


def standardized(count: int) -> float:
    """Return the bound of this many values with mean 0 and variance 1, times a weight, plus a bias."""
    return math.sqrt(count) + 1


def identity(x: Operand, params: LayerParams, training: bool) -> OpResult:
    """The layer returns its input."""
    return OpResult(x.type, x.bound, alias=True, same=True)


def elementwise(bound: Callable[[float], float]) -> Rule:
    """Make the rule of an elementwise layer; ``bound`` maps the bound of the input to that of the result."""

    def rule(x: Operand, params: LayerParams, training: bool) -> OpResult:
        found = pointwise((x.type,))
        assert found is not None
        return OpResult(TensorType(*found, x.type.dtype), bound(x.bound))

    return rule


def inplace(x: Operand, params: LayerParams, training: bool) -> OpResult:
    """The layer changes its input elementwise, and increases no absolute value."""
    require(not x.type.overlaps)
    return identity(x, params, training)


def dropout(x: Operand, params: LayerParams, training: bool) -> OpResult:
    """Dropout: in eval mode, the layer returns its input."""
    if not training:
        return identity(x, params, training)
    if x.type.packed:
        return elementwise(lambda bound: 2 * bound)(x, params, training)
    return OpResult(fresh(x.type.shape, x.type.dtype), 2 * x.bound)


def rrelu(x: Operand, params: LayerParams, training: bool) -> OpResult:
    """A leaky ReLU: in train mode, its slopes are random. The result is in memory of its own."""
    require(x.type.dtype in ("float32", "float64"))
    return OpResult(fresh(x.type.shape, x.type.dtype), x.bound)


def softmax(x: Operand, params: LayerParams, training: bool) -> OpResult:
    """Softmax over the last dimension."""
    require(len(x.type.shape) > 0 and x.type.numel > 0)
    return OpResult(dense(x.type.shape, x.type.dtype), 1.0)


def flatten(x: Operand, params: LayerParams, training: bool) -> OpResult:
    """A view if the memory layout allows it; for two dimensions, the input itself."""
    kind = x.type
    require(kind.contiguous is not None)
    if len(kind.shape) == 2:
        return identity(x, params, training)
    require(kind.contiguous and kind.numel > 0)
    shape = (kind.shape[0], numel(kind.shape[1:]))
    return OpResult(dense(shape, kind.dtype), x.bound, alias=True)


def pool(x: Operand, params: LayerParams, training: bool) -> OpResult:
    """Pooling over pairs of elements in the last dimension."""
    shape = x.type.shape
    return OpResult(fresh((*shape[:-1], shape[-1] // 2), x.type.dtype), x.bound)


def linear(x: Operand, params: LayerParams, training: bool) -> OpResult:
    """A linear layer."""
    size, out = size_of(params[0]), size_of(params[1])
    shape = (*x.type.shape[:-1], out)
    maker = dense if x.type.contiguous or len(shape) < 3 else fresh
    return OpResult(maker(shape, x.type.dtype), x.bound * size + 1)


def batch_norm(x: Operand, params: LayerParams, training: bool) -> OpResult:
    """A batch norm. In eval mode, the running statistics are the initial ones, 0 and 1."""
    bound = math.sqrt(x.type.numel) if training else x.bound
    return OpResult(fresh(x.type.shape, x.type.dtype), bound + 1)


def running_statistics(x: Operand, params: LayerParams) -> Mapping[str, float]:
    """The bounds of the running statistics after calls in train mode."""
    return {
        "running_mean": x.bound,
        "running_var": 2 * x.bound * x.bound + 1,
        "num_batches_tracked": 100.0,
    }


def conv(rank: int) -> Rule:
    """Make the rule of a convolution without padding over the last ``rank`` dimensions."""

    def rule(x: Operand, params: LayerParams, training: bool) -> OpResult:
        channels, out, kernel = (size_of(value) for value in params[:3])
        sizes = tuple(size - kernel + 1 for size in x.type.shape[-rank:])
        shape = (*x.type.shape[: -rank - 1], out, *sizes)
        return OpResult(fresh(shape, x.type.dtype), x.bound * channels * kernel**rank + 1)

    return rule


def attention(x: Operand, params: LayerParams, training: bool) -> OpResult:
    """Self-attention: two projections with weights below sqrt(6 / (size + size)) and 1 / sqrt(size)."""
    return OpResult(fresh(x.type.shape, x.type.dtype), 2 * x.bound * size_of(params[0]) + 1)


def embedding(x: Operand, params: LayerParams, training: bool) -> OpResult:
    """An embedding."""
    return OpResult(fresh((*x.type.shape, size_of(params[1]))), NORMAL)

"""Which params fit the input of a layer, simplest first; none if no layer of this kind takes the input."""

from __future__ import annotations

from collections.abc import Callable

from exportdiff_strategies.layers.spec import SUFFIXES, LayerParams, with_dtype
from exportdiff_strategies.ops import Operand
from exportdiff_strategies.types import category

Choices = Callable[[Operand, bool], list[LayerParams]]
"""From the input and the train mode to the params."""


def always(x: Operand, training: bool) -> list[LayerParams]:
    """Fit every input."""
    return [()]


def floating(x: Operand, training: bool) -> list[LayerParams]:
    """Fit floating point inputs."""
    return [()] if category(x.type.dtype) == "float" else []


def number(x: Operand, training: bool) -> list[LayerParams]:
    """Fit floating point and integer inputs."""
    return [()] if category(x.type.dtype) in ("float", "int") else []


def droppable(x: Operand, training: bool) -> list[LayerParams]:
    """Fit every input in eval mode, and floating point inputs with elements in train mode."""
    if not training:
        return [()]
    return floating(x, training) if x.type.numel > 0 else []


def flattenable(x: Operand, training: bool) -> list[LayerParams]:
    """Fit inputs with a batch dimension."""
    return [()] if len(x.type.shape) >= 2 else []


def poolable(x: Operand, training: bool) -> list[LayerParams]:
    """Fit inputs with a channel dimension, and with at least two elements to pool."""
    shape = x.type.shape
    fits = x.type.dtype in SUFFIXES and len(shape) in (2, 3) and 0 not in shape and shape[-1] > 1
    return [()] if fits else []


def last_size(*ranks: int) -> Choices:
    """Fit the size of the last dimension, for inputs with any or one of these numbers of dimensions."""

    def choices(x: Operand, training: bool) -> list[LayerParams]:
        shape = x.type.shape
        fits = shape and 0 not in shape and (not ranks or len(shape) in ranks)
        return with_dtype(x, shape[-1]) if fits else []

    return choices


def linear(x: Operand, training: bool) -> list[LayerParams]:
    """Fit a linear layer, square ones first: such a layer can be called again on its own result."""
    sizes = [(size, out) for size in x.type.shape[-1:] for out in (size, 2, 3)]
    if 0 in x.type.shape:
        return []
    return [params for pair in dict.fromkeys(sizes) for params in with_dtype(x, *pair)]


def _channels(x: Operand, *ranks: int) -> int:
    """Return the number of channels (dimension 1) of a batch, 0 if the input does not fit."""
    shape = x.type.shape
    return shape[1] if len(shape) in ranks and 0 not in shape and x.type.dtype in SUFFIXES else 0


def batch_norm(x: Operand, training: bool) -> list[LayerParams]:
    """Fit the channels. In train mode, a single value has no variance."""
    size = _channels(x, 2, 3)
    return with_dtype(x, size) if size and not (training and x.type.numel == size) else []


def group_norm(x: Operand, training: bool) -> list[LayerParams]:
    """Fit the channels of more than one element."""
    size = _channels(x, 2, 3, 4)
    return with_dtype(x, size) if size and x.type.numel > 1 else []


def conv(rank: int) -> Choices:
    """Fit a convolution: kernels of size 1 or 2, as many output channels as input channels, or 2."""

    def choices(x: Operand, training: bool) -> list[LayerParams]:
        shape = x.type.shape
        if len(shape) not in (rank + 1, rank + 2) or 0 in shape:
            return []
        channels = shape[-rank - 1]
        kernels = (1, 2) if min(shape[-rank:]) > 1 else (1,)
        return [p for out in sorted({channels, 2}) for k in kernels for p in with_dtype(x, channels, out, k)]

    return choices


TOKENS = 3
"""The number of rows of an embedding; the form ``tokens`` takes the input modulo this."""


def embedding(x: Operand, training: bool) -> list[LayerParams]:
    """Fit integers."""
    return [(TOKENS, 2)] if category(x.type.dtype) == "int" and len(x.type.shape) < 4 else []

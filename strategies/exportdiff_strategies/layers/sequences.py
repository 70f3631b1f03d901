"""Rules of layers on sequences and on tokens."""

from __future__ import annotations

import math
from collections.abc import Callable

from exportdiff_strategies.layers.spec import LayerParams, Tensors, dtype_of, require, size_of, with_dtype
from exportdiff_strategies.ops import Operand, Outcome
from exportdiff_strategies.types import category, dense, fresh


def sequence_sizes(x: Operand, training: bool) -> list[LayerParams]:
    """Choices of a layer on sequences."""
    shape = x.type.shape
    return with_dtype(x, shape[-1]) if len(shape) in (2, 3) and 0 not in shape else []


def attention(x: Operand, params: LayerParams, training: bool) -> Outcome:
    """Self-attention with one head."""
    require(params in sequence_sizes(x, training))
    size = size_of(params[0])
    # Two projections with weights below sqrt(6 / (size + size)) and 1 / sqrt(size).
    return Outcome(fresh(x.type.shape, x.type.dtype), 2 * x.bound * size + 1)


def attention_tensors(params: LayerParams) -> Tensors:
    """Parameters of self-attention."""
    size, dtype = size_of(params[0]), dtype_of(params)
    return {
        "in_proj_weight": ("parameter", dense((3 * size, size), dtype), 2.0),
        "in_proj_bias": ("parameter", dense((3 * size,), dtype), 1.0),
        "out_proj.weight": ("parameter", dense((size, size), dtype), 1.0),
        "out_proj.bias": ("parameter", dense((size,), dtype), 1.0),
    }


def recurrent(x: Operand, params: LayerParams, training: bool) -> Outcome:
    """A recurrent layer."""
    require(params in sequence_sizes(x, training))
    return Outcome(fresh((*x.type.shape[:-1], size_of(params[0])), x.type.dtype), 1.0)


def packed(x: Operand, params: LayerParams, training: bool) -> Outcome:
    """A recurrent layer on a packed batch of sequences of different lengths."""
    require(params in batches(x, training))
    return recurrent(x, params, training)


def cell_sizes(x: Operand, training: bool) -> list[LayerParams]:
    """Choices of a recurrent cell."""
    shape = x.type.shape
    return with_dtype(x, shape[-1]) if len(shape) in (1, 2) and 0 not in shape else []


def cell(x: Operand, params: LayerParams, training: bool) -> Outcome:
    """A recurrent cell."""
    require(params in cell_sizes(x, training))
    return Outcome(fresh(x.type.shape, x.type.dtype), 1.0)


def batches(x: Operand, training: bool) -> list[LayerParams]:
    """Choices of a layer on batches of sequences."""
    shape = x.type.shape
    return with_dtype(x, shape[-1]) if len(shape) == 3 and 0 not in shape else []


def encoder_layer(x: Operand, params: LayerParams, training: bool) -> Outcome:
    """A transformer layer, which ends with a normalization."""
    require(params in batches(x, training))
    return Outcome(fresh(x.type.shape, x.type.dtype), math.sqrt(size_of(params[0])) + 1)


def encoder_tensors(params: LayerParams) -> Tensors:
    """Parameters of a transformer layer with 4 hidden features."""
    size, dtype = size_of(params[0]), dtype_of(params)
    one, hidden = dense((size,), dtype), dense((4,), dtype)
    return {
        **{f"self_attn.{name}": found for name, found in attention_tensors(params).items()},
        "linear1.weight": ("parameter", dense((4, size), dtype), 1.0),
        "linear1.bias": ("parameter", hidden, 1.0),
        "linear2.weight": ("parameter", dense((size, 4), dtype), 1.0),
        "linear2.bias": ("parameter", one, 1.0),
        **{f"norm{n}.{name}": ("parameter", one, 1.0) for n in (1, 2) for name in ("weight", "bias")},
    }


def gate_tensors(count: int, suffix: str = "_l0") -> Callable[[LayerParams], Tensors]:
    """The parameters of a recurrent layer with so many gates; ``suffix`` ends their names."""

    def tensors(params: LayerParams) -> Tensors:
        size, dtype = size_of(params[0]), dtype_of(params)
        matrix, vector = dense((count * size, size), dtype), dense((count * size,), dtype)
        return {
            f"weight_ih{suffix}": ("parameter", matrix, 1.0),
            f"weight_hh{suffix}": ("parameter", matrix, 1.0),
            f"bias_ih{suffix}": ("parameter", vector, 1.0),
            f"bias_hh{suffix}": ("parameter", vector, 1.0),
        }

    return tensors


_TOKENS = 3
"""The number of rows of an embedding; the form ``tokens`` takes the input modulo this."""


def embedding_sizes(x: Operand, training: bool) -> list[LayerParams]:
    """Choices of an embedding."""
    return [(_TOKENS, 2)] if category(x.type.dtype) == "int" and len(x.type.shape) < 4 else []


def embedding(x: Operand, params: LayerParams, training: bool) -> Outcome:
    """An embedding."""
    require(bool(embedding_sizes(x, training)))
    return Outcome(fresh((*x.type.shape, size_of(params[1])), "float32"), _NORMAL)


_NORMAL = 6.0
"""No value drawn from the normal distribution exceeds this."""


def embedding_tensors(params: LayerParams) -> Tensors:
    """The weight of an embedding."""
    return {"weight": ("parameter", dense((size_of(params[0]), size_of(params[1]))), _NORMAL)}

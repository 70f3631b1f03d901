"""The parameters and buffers of the layers."""

from __future__ import annotations

from collections.abc import Callable

from exportdiff_strategies.layers.rules import NORMAL
from exportdiff_strategies.layers.spec import LayerParams, Tensors, dtype_of, size_of
from exportdiff_strategies.types import Shape, dense


def _parameters(params: LayerParams, **shapes: Shape) -> Tensors:
    """Return parameters of these shapes, with values of at most 1."""
    dtype = dtype_of(params)
    return {name: ("parameter", dense(shape, dtype), 1.0) for name, shape in shapes.items()}


def linear(params: LayerParams) -> Tensors:
    """Weight and bias of a linear layer."""
    size, out = size_of(params[0]), size_of(params[1])
    return _parameters(params, weight=(out, size), bias=(out,))


def affine(params: LayerParams) -> Tensors:
    """Weight and bias of a normalization."""
    size = size_of(params[0])
    return _parameters(params, weight=(size,), bias=(size,))


def weight(params: LayerParams) -> Tensors:
    """The weight of a normalization without bias."""
    return _parameters(params, weight=(size_of(params[0]),))


def batch_norm(params: LayerParams) -> Tensors:
    """Parameters and buffers of a batch norm."""
    one = dense((size_of(params[0]),), dtype_of(params))
    return {
        **affine(params),
        "running_mean": ("buffer", one, 0.0),
        "running_var": ("buffer", one, 1.0),
        "num_batches_tracked": ("buffer", dense((), "int64"), 0.0),
    }


def conv(rank: int) -> Callable[[LayerParams], Tensors]:
    """Weight and bias of a convolution."""

    def tensors(params: LayerParams) -> Tensors:
        channels, out, kernel = (size_of(value) for value in params[:3])
        return _parameters(params, weight=(out, channels, *(kernel,) * rank), bias=(out,))

    return tensors


def attention(params: LayerParams) -> Tensors:
    """Parameters of self-attention with one head."""
    size = size_of(params[0])
    found = {
        "in_proj_weight": (3 * size, size),
        "in_proj_bias": (3 * size,),
        "out_proj.weight": (size, size),
        "out_proj.bias": (size,),
    }
    kind, weights, _ = _parameters(params, **found)["in_proj_weight"]
    return {**_parameters(params, **found), "in_proj_weight": (kind, weights, 2.0)}


def encoder(params: LayerParams) -> Tensors:
    """Parameters of a transformer layer with 4 hidden features."""
    size = size_of(params[0])
    linear1, linear2 = (4, size), (size, 4)
    norms = {f"norm{n}.{name}": (size,) for n in (1, 2) for name in ("weight", "bias")}
    shapes = {
        "linear1.weight": linear1,
        "linear1.bias": (4,),
        "linear2.weight": linear2,
        "linear2.bias": (size,),
        **norms,
    }
    return {
        **{f"self_attn.{name}": found for name, found in attention(params).items()},
        **_parameters(params, **shapes),
    }


def gates(count: int, suffix: str = "_l0") -> Callable[[LayerParams], Tensors]:
    """The parameters of a recurrent layer with this many gates; ``suffix`` ends their names."""

    def tensors(params: LayerParams) -> Tensors:
        size = size_of(params[0])
        shapes: dict[str, Shape] = {"weight": (count * size, size), "bias": (count * size,)}
        named = {f"{name}_{part}{suffix}": shapes[name] for name in shapes for part in ("ih", "hh")}
        return _parameters(params, **named)

    return tensors


def embedding(params: LayerParams) -> Tensors:
    """The weight of an embedding."""
    return {"weight": ("parameter", dense((size_of(params[0]), size_of(params[1]))), NORMAL)}

"""The table of ready-made ``nn`` layers that a Program may use as children.

To add a layer, add one line to LAYERS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from strategies.ops import Operand, Outcome, Rejected
from strategies.types import Shape, TensorType, contiguous_stride

LayerRule = Callable[[Operand, tuple[int, ...]], Outcome]


@dataclass(frozen=True, slots=True)
class LayerSpec:
    """One entry: how it is built, what it makes of its one input, and its parameters' shapes.

    ``sized`` says that the layer is built for a last dimension of that size. ``random`` says that the
    parameters are initialized from the RNG, ``eval_only`` that the layer draws from it in train mode.
    """

    template: str
    rule: LayerRule
    sized: bool = False
    mutates: bool = False
    random: bool = False
    eval_only: bool = False
    parameters: Mapping[str, Callable[[int], Shape]] = field(default_factory=dict)


def _linear(x: Operand, params: tuple[int, ...]) -> Outcome:
    size = params[0]
    if not x.type.shape or x.type.shape[-1] != size:
        raise Rejected("last dimension")
    stride = contiguous_stride(x.type.shape) if x.type.contiguous else None
    return Outcome(TensorType(x.type.shape, stride), x.bound * size + 1)


def _norm(x: Operand, params: tuple[int, ...]) -> Outcome:
    size = params[0]
    if not x.type.shape or x.type.shape[-1] != size:
        raise Rejected("last dimension")
    return Outcome(TensorType(x.type.shape), float(size))


def _identity(x: Operand, params: tuple[int, ...]) -> Outcome:
    return Outcome(x.type, x.bound, alias=True, same=True)


def _inplace(x: Operand, params: tuple[int, ...]) -> Outcome:
    if x.type.overlaps:
        raise Rejected("not writable in place")
    return Outcome(x.type, x.bound, alias=True, same=True)


def _map(x: Operand, params: tuple[int, ...]) -> Outcome:
    return Outcome(TensorType(x.type.shape, x.type.stride if x.type.contiguous else None), x.bound)


LAYERS: dict[str, LayerSpec] = {
    "identity": LayerSpec("nn.Identity()", _identity),
    "relu": LayerSpec("nn.ReLU()", _map),
    "linear": LayerSpec(
        "nn.Linear({p[0]}, {p[0]})",
        _linear,
        sized=True,
        random=True,
        parameters={"weight": lambda n: (n, n), "bias": lambda n: (n,)},
    ),
    "layer_norm": LayerSpec(
        "nn.LayerNorm({p[0]})",
        _norm,
        sized=True,
        parameters={"weight": lambda n: (n,), "bias": lambda n: (n,)},
    ),
    "relu_inplace": LayerSpec("nn.ReLU(inplace=True)", _inplace, mutates=True),
    "dropout": LayerSpec("nn.Dropout(0.5)", _identity, eval_only=True),
}

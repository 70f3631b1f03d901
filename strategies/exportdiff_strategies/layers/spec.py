"""What an entry of the table of layers is, and helpers of the layers' rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from exportdiff_strategies.ops import Operand, OpResult, require
from exportdiff_strategies.types import TensorType

LayerParams = tuple[int | str, ...]
"""The constants that a layer is built with."""


Tensors = Mapping[str, tuple[str, TensorType, float]]
"""Name -> kind of attribute (parameter or buffer), type, and bound on the absolute values."""


DOUBLE = ", dtype=torch.float64"
"""The suffix in a template of a float64 layer; it is the last param of the layers that take a dtype."""


SUFFIXES = {"float32": "", "float64": DOUBLE}
"""Dtype of the input -> the last param of a layer for that dtype."""


def _no_tensors(params: LayerParams) -> Tensors:
    return {}


def _no_updates(x: Operand, params: LayerParams) -> Mapping[str, float]:
    return {}


@dataclass(frozen=True, slots=True)
class LayerSpec:
    """One entry: how a layer is built, and what it returns for its one input.

    ``template`` is a format string over the params ``p``. ``choices`` lists the params that fit an input in
    train or eval mode, simplest first; ``rule`` is only called with params that fit. ``form`` says how the
    layer is called: a key of ``ir.FORMS``. ``random``: its parameters are initialized at random; ``mutates``:
    it changes its input in place; ``lowers``: autocast runs it in its lower precision. ``tensors`` are its
    parameters and buffers; ``updates`` gives the new bounds of the buffers that a call in train mode updates.
    """

    template: str
    choices: Callable[[Operand, bool], list[LayerParams]]
    rule: Callable[[Operand, LayerParams, bool], OpResult]
    form: str = ""
    mutates: bool = False
    random: bool = False
    lowers: bool = False
    has_modes: bool = False
    """Whether it behaves otherwise in train mode than in eval mode."""
    tensors: Callable[[LayerParams], Tensors] = _no_tensors
    updates: Callable[[Operand, LayerParams], Mapping[str, float]] = _no_updates

    def outcome(self, x: Operand, params: LayerParams, training: bool) -> OpResult:
        """Return what the layer returns. Raises Rejected for an input that the params do not fit."""
        require(params in self.choices(x, training))
        return self.rule(x, params, training)


def size_of(value: int | str) -> int:
    """A param that is a size."""
    assert isinstance(value, int)
    return value


def dtype_of(params: LayerParams) -> str:
    """The dtype of a layer that takes one; the last param says which."""
    return "float64" if params[-1] == DOUBLE else "float32"


def with_dtype(x: Operand, *sizes: int) -> list[LayerParams]:
    """These sizes together with the input's dtype; no choice at all if layers do not support that dtype."""
    suffix = SUFFIXES.get(x.type.dtype)
    return [] if suffix is None else [(*sizes, suffix)]

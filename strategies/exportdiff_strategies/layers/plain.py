"""Rules of layers without parameters."""

from __future__ import annotations

from collections.abc import Callable

from exportdiff_strategies.layers.spec import SUFFIXES, LayerParams, LayerSpec, is_floating, require
from exportdiff_strategies.ops import Operand, Outcome
from exportdiff_strategies.types import TensorType, category, dense, fresh, numel, pointwise


def always(x: Operand, training: bool) -> list[LayerParams]:
    """Choices: the layer fits every input."""
    return [()]


def if_floating(x: Operand, training: bool) -> list[LayerParams]:
    """Choices: the layer fits floating point inputs."""
    return [()] if is_floating(x) else []


def if_number(x: Operand, training: bool) -> list[LayerParams]:
    """Choices: the layer fits floating point and integer inputs."""
    return [()] if category(x.type.dtype) in ("float", "int") else []


def if_droppable(x: Operand, training: bool) -> list[LayerParams]:
    """Choices: the layer fits every input in eval mode, and floating point inputs with elements in train
    mode.
    """
    return [()] if not training or (is_floating(x) and x.type.numel > 0) else []


def identity(x: Operand, params: LayerParams, training: bool) -> Outcome:
    """The layer returns its input."""
    return Outcome(x.type, x.bound, alias=True, same=True)


def dropout(x: Operand, params: LayerParams, training: bool) -> Outcome:
    """Dropout: in eval mode, the layer returns its input."""
    require(bool(if_droppable(x, training)))
    if not training:
        return identity(x, params, training)
    found = pointwise((x.type,))
    assert found is not None
    kind = TensorType(*found, x.type.dtype) if x.type.packed else fresh(x.type.shape, x.type.dtype)
    return Outcome(kind, 2 * x.bound)


def elementwise(template: str, bound: Callable[[float], float], integers: bool = False) -> LayerSpec:
    """An elementwise layer; ``bound`` maps the bound of the input to that of the result."""

    def rule(x: Operand, params: LayerParams, training: bool) -> Outcome:
        require(bool(choices(x, training)))
        found = pointwise((x.type,))
        assert found is not None
        return Outcome(TensorType(*found, x.type.dtype), bound(x.bound))

    choices = if_number if integers else if_floating
    return LayerSpec(template, choices, rule)


def elementwise_inplace(template: str, integers: bool = False) -> LayerSpec:
    """A layer that changes its input in place, elementwise, and increases no absolute value."""

    def rule(x: Operand, params: LayerParams, training: bool) -> Outcome:
        require(bool(choices(x, training)) and not x.type.overlaps)
        return Outcome(x.type, x.bound, alias=True, same=True)

    choices = if_number if integers else if_floating
    return LayerSpec(template, choices, rule, mutates=True)


def softmax(x: Operand, params: LayerParams, training: bool) -> Outcome:
    """Softmax over the last dimension."""
    require(is_floating(x) and len(x.type.shape) > 0 and x.type.numel > 0)
    return Outcome(dense(x.type.shape, x.type.dtype), 1.0)


def flatten(x: Operand, params: LayerParams, training: bool) -> Outcome:
    """A view if the memory layout allows it; for two dimensions, the input itself."""
    kind = x.type
    require(len(kind.shape) >= 2 and kind.contiguous is not None)
    if len(kind.shape) == 2:
        return identity(x, params, training)
    require(bool(kind.contiguous) and kind.numel > 0)
    shape = (kind.shape[0], numel(kind.shape[1:]))
    return Outcome(dense(shape, kind.dtype), x.bound, alias=True)


def if_flattenable(x: Operand, training: bool) -> list[LayerParams]:
    """Choices: the layer fits inputs with a batch dimension."""
    return [()] if len(x.type.shape) >= 2 else []


def pool(x: Operand, params: LayerParams, training: bool) -> Outcome:
    """Pooling over pairs of elements in the last dimension."""
    shape = x.type.shape
    require(bool(if_poolable(x, training)))
    return Outcome(fresh((*shape[:-1], shape[-1] // 2), x.type.dtype), x.bound)


def if_poolable(x: Operand, training: bool) -> list[LayerParams]:
    """Choices: the layer fits inputs with a channel dimension, and with at least two elements to pool."""
    shape = x.type.shape
    fits = x.type.dtype in SUFFIXES and len(shape) in (2, 3) and 0 not in shape and shape[-1] > 1
    return [()] if fits else []

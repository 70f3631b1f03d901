"""Drawing a ready-made layer of ``nn`` that fits ``x``."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.drawing.style import Style
from exportdiff_strategies.layers import LAYERS
from exportdiff_strategies.machine import new_tensor
from exportdiff_strategies.swarm import Chooser
from exportdiff_strategies.types import dense

DEMANDING = frozenset(
    {"conv1d", "conv2d", "max_pool1d", "avg_pool1d", "batch_norm1d", "group_norm", "embedding"}
    | {"attention", "gru", "lstm", "packed_gru", "gru_cell", "encoder_layer"}
)
"""Layers that few inputs fit: preferred if one fits."""


_BATCHES = ("encoder_layer", "packed_gru")
"""Layers that only batches of sequences fit: they come up less often than all others."""


TRACED_LAYERS = frozenset(
    {"relu", "linear", "layer_norm", "gelu", "silu", "tanh", "softmax", "rms_norm", "group_norm"}
    | {"conv1d", "conv2d", "max_pool1d", "avg_pool1d"}
)
"""Layers that can be traced: their code does not branch on the input."""


def draw_layer(choose: Chooser, style: Style) -> ir.New | None:
    """A layer that takes ``x``; None if no layer does."""
    # An embedding needs indices, whatever the dtype of ``x`` is.
    dtype = "int64" if choose.chance(8) else style.dtype
    x = new_tensor(dense(style.shape, dtype))
    fitting = [
        (name, choices) for name, spec in LAYERS.items() if (choices := spec.choices(x, style.training))
    ]
    if not fitting:
        return None
    traced = [each for each in fitting if each[0] in TRACED_LAYERS]
    if traced and choose.maybe("hierarchy.traced", 50):
        fitting = traced
    demanding = [each for each in fitting if each[0] in DEMANDING]
    demanding += [each for each in fitting if each[0] in _BATCHES] * 5
    if demanding and choose.chance(50):
        fitting = demanding
    name, choices = choose.pick(fitting)
    return ir.New(name, choose.pick(choices), layer=True)

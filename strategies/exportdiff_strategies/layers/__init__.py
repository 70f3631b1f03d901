"""The ready-made layers of ``nn``: how each is built, what it accepts and what it returns."""

from exportdiff_strategies.layers.spec import LayerParams, LayerSpec
from exportdiff_strategies.layers.table import LAYERS

__all__ = ["LAYERS", "LayerParams", "LayerSpec"]

"""The ready-made layers of ``nn``: how each is built, what it accepts and what it returns.

An entry of the table joins a template (``nn.Linear({p[0]}, {p[1]}{p[2]})``), the params that fit an input
(choices), the outcome for such an input (rules), and the parameters and buffers (tensors).
"""

from exportdiff_strategies.layers.spec import LayerParams, LayerSpec
from exportdiff_strategies.layers.table import LAYERS

__all__ = ["LAYERS", "LayerParams", "LayerSpec"]

"""All ordinary models. Importing a file of models adds them to the table."""

from __future__ import annotations

from support.ordinary import containers, layers, state
from support.ordinary.table import MODELS

__all__ = ["MODELS", "containers", "layers", "state"]

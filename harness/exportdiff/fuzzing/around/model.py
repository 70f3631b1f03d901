"""The model of a campaign with ``--around``: text that defines ``original()``."""

from __future__ import annotations

from dataclasses import dataclass

ORIGINAL = "original"
"""The name of the factory in that text; it returns ``(model, args)`` or ``(model, args, kwargs)``."""


IMPORTS = "import copy\n\nimport torch\nimport torch.utils.checkpoint\nfrom torch import nn\n"
"""The imports that situations use."""


@dataclass(frozen=True)
class UnusableModel:
    """A model that does not work for ``--around``, and why, in one line for the user."""

    reason: str


@dataclass(frozen=True)
class Around:
    """Plain data: it is part of a campaign's settings, so a resumed campaign has the same text."""

    written: str
    """As the user wrote it: ``FILE.py:make``, ``package.module:make`` or ``module_db/nn.Linear``."""
    source: str
    """Begins with IMPORTS, and defines ``original()``."""

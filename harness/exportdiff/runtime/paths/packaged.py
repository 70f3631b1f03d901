"""What AOTInductor made, as a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable


class Packaged(torch.nn.Module):
    """What AOTInductor made, as a module without named state."""

    def __init__(self, run: Callable[..., object]) -> None:
        """Keep the callable that AOTInductor returned."""
        super().__init__()
        self.run = run

    def forward(self, *args: object, **kwargs: object) -> object:
        """Call it."""
        return self.run(*args, **kwargs)

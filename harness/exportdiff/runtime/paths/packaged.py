"""What Inductor made: settings, and a package as a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager


def numbers_of_eager() -> AbstractContextManager[None]:
    """Make Inductor draw random numbers as eager does; by default it draws others."""
    from torch._inductor import config  # it takes long to import

    patched: AbstractContextManager[None] = config.patch(fallback_random=True)
    return patched


class Packaged(torch.nn.Module):
    """What AOTInductor made, as a module without named state."""

    def __init__(self, run: Callable[..., object]) -> None:
        """Keep the callable that AOTInductor returned."""
        super().__init__()
        self.run = run

    def forward(self, *args: object, **kwargs: object) -> object:
        """Call it."""
        return self.run(*args, **kwargs)

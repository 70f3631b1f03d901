"""What Inductor or a backend made: settings, and a callable as a module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    """What AOTInductor or a backend made, as a module without named state."""

    def __init__(self, run: Callable[..., object]) -> None:
        """Keep the callable."""
        super().__init__()
        self.run = run

    def forward(self, *args: object, **kwargs: object) -> object:
        """Call it."""
        return self.run(*args, **kwargs)


def as_module(made: Any) -> torch.nn.Module:
    """Return what a runner made; a function of a backend becomes a module without named state."""
    return made if isinstance(made, torch.nn.Module) else Packaged(made)

"""torch, imported where it is first used: to import it takes seconds, and not every command needs it.

The tables of paths are read to list paths and to find a wrong name; only who runs a path needs torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch as torch
else:

    class _Torch:
        """Hands on the attributes of torch."""

        def __getattr__(self, name: str) -> Any:
            import torch

            return getattr(torch, name)

    torch = _Torch()

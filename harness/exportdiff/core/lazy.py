"""torch, imported on first use, because the import takes seconds and not every command needs it.

Commands read the tables of paths to list paths or to check a name; only running a path needs torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch as torch
else:

    class _Torch:
        """Forwards to the attributes of torch."""

        def __getattr__(self, name: str) -> Any:
            import torch

            return getattr(torch, name)

    torch = _Torch()

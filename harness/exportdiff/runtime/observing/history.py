"""What autograd knows of how a tensor was computed, also where it forbids to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def node_of(tensor: torch.Tensor) -> Any:
    """Return the node of autograd's graph that made a tensor; None: it has none, or nobody may ask for it.

    Autograd raises RuntimeError for a view that was made under no_grad, if its base has a history since.
    """
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


def has_history(tensor: torch.Tensor) -> bool:
    """Whether a tensor was computed, and autograd knows it; also where nobody may ask how."""
    try:
        return tensor.grad_fn is not None
    except RuntimeError:
        return True

"""How autograd recorded the computation of a tensor, for tensors whose ``grad_fn`` raises too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def node_of(tensor: torch.Tensor) -> Any:
    """Return the node of autograd's graph that made a tensor; None if there is none, or autograd hides it.

    Autograd raises RuntimeError for a view that was made under no_grad if its base has got a history since.
    """
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


def has_history(tensor: torch.Tensor) -> bool:
    """Whether autograd has recorded how a tensor was computed, even if it does not show the node."""
    try:
        return tensor.grad_fn is not None
    except RuntimeError:
        return True

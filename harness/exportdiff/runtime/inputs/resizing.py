"""Gives a tensor another size. Repro files contain this function, so it needs only torch."""

from __future__ import annotations

import torch


def with_size(tensor: torch.Tensor, dim: int, size: int) -> torch.Tensor:
    """Give one dimension another size: leave elements out, or repeat them. A jagged tensor has rows."""
    held = tensor.shape[dim]
    if held == size:
        return tensor
    with torch.no_grad():
        if tensor.is_nested and dim == 0:
            rows = [tensor.unbind()[number % held] for number in range(size)]
            other = torch.nested.as_nested_tensor(rows, layout=tensor.layout)
        elif held:
            other = tensor.index_select(dim, torch.arange(size, device=tensor.device) % held)
        else:
            other = tensor.new_zeros((*tensor.shape[:dim], size, *tensor.shape[dim + 1 :]))
    return other.detach().requires_grad_(tensor.requires_grad)

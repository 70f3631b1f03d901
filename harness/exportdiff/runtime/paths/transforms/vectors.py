"""State in one vector, as optimizers and data parallelism keep it; eager gets it too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.core.lazy import torch
from exportdiff.runtime.paths.transforms.table import transform

if TYPE_CHECKING:
    from torch import nn


@transform("case", "nonstrict:unflatten", cost=10)
def vector(model: nn.Module) -> nn.Module:
    """Parameters and buffers that are parts of one vector (vector_to_parameters) stay different tensors."""
    for kind, tensors in ((torch.nn.Parameter, model.parameters()), (torch.Tensor, model.buffers())):
        alike = [t for t in tensors if type(t) is kind and t.is_leaf and t.dtype is torch.float32]
        parts = [t for t in alike if t.layout is torch.strided and t.is_contiguous()]
        if parts:
            whole = torch.nn.utils.parameters_to_vector(parts)
            torch.nn.utils.vector_to_parameters(whole.detach(), parts)
    return model

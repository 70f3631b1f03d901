"""Parameters in one vector, as optimizers and data parallelism keep them; eager gets them too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.core.lazy import torch
from exportdiff.runtime.paths.transforms.table import transform

if TYPE_CHECKING:
    from torch import nn


@transform("case", "nonstrict:unflatten", cost=10)
def vector(model: nn.Module) -> nn.Module:
    """Parameters that are parts of one vector (vector_to_parameters) stay different tensors."""
    parameters = [p for p in model.parameters() if type(p) is torch.nn.Parameter]
    parameters = [p for p in parameters if p.dtype is torch.float32 and p.layout is torch.strided]
    if parameters:
        whole = torch.nn.utils.parameters_to_vector(parameters)
        torch.nn.utils.vector_to_parameters(whole.detach(), parameters)
    return model

"""What people do with an exported program. Each function returns what is called instead of the model."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch import nn
from torch.export import ExportedProgram, unflatten

Use: TypeAlias = Callable[[ExportedProgram], Callable[..., Any]]


class Parent(nn.Module):
    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer
        self.dropout = nn.Dropout(0.5)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.layer(*args, **kwargs)


def _reloaded(program: ExportedProgram) -> ExportedProgram:
    stored = io.BytesIO()
    torch.export.save(program, stored)
    stored.seek(0)
    return torch.export.load(stored)


USES: dict[str, Use] = {
    "module": lambda program: program.module(),
    "unflatten": unflatten,
    "decompose": lambda program: program.run_decompositions().module(),
    "reload": lambda program: _reloaded(program).module(),
    "parent in eval mode": lambda program: Parent(unflatten(program)).eval(),
    "copy in eval mode": lambda program: copy.deepcopy(program.module()).eval(),
    "copy of unflattened": lambda program: copy.deepcopy(unflatten(program)).eval(),
}
"""By name."""

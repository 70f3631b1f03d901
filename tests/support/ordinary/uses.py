"""What people do with an exported program."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.export import ExportedProgram, unflatten


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


@dataclass(frozen=True)
class Use:
    """What is made of a program, and in which mode the model then is."""

    make: Callable[[ExportedProgram], Callable[..., Any]]
    evaluates: bool = False
    """Whether it switches to eval mode."""


USES: dict[str, Use] = {
    "module": Use(lambda program: program.module()),
    "unflatten": Use(unflatten),
    "decompose": Use(lambda program: program.run_decompositions().module()),
    "reload": Use(lambda program: _reloaded(program).module()),
    "parent in eval mode": Use(lambda program: Parent(unflatten(program)).eval(), evaluates=True),
    "copy in eval mode": Use(lambda program: copy.deepcopy(program.module()).eval(), evaluates=True),
}
"""By name."""

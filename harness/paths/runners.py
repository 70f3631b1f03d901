"""The table of runners: the ways to turn an ExportedProgram back into something that runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import nn
    from torch.export import ExportedProgram

Runner = Callable[["ExportedProgram"], "nn.Module"]

RUNNERS: dict[str, Runner] = {}
"""By name, in the canonical order."""


def _runner(lower: Runner) -> Runner:
    RUNNERS[lower.__name__] = lower
    return lower


@_runner
def module(program: ExportedProgram) -> nn.Module:
    """One flat graph; shares its state with the exported program."""
    return program.module()


@_runner
def unflatten(program: ExportedProgram) -> nn.Module:
    """The module hierarchy, rebuilt; clones the exported program's state."""
    return torch.export.unflatten(program)

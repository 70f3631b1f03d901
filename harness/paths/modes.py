"""The table of modes: the ways to turn a model into an ExportedProgram."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import nn
    from torch.export import ExportedProgram

    from harness.inputs.copies import Inputs

Mode = Callable[["nn.Module", "Inputs", object, "Mapping[str, Any]"], "ExportedProgram"]
"""From a model, its example inputs, a spec of dynamic shapes (None: there are none) and further arguments."""

MODES: dict[str, Mode] = {}
"""By name, in the canonical order."""


def _mode(export: Mode) -> Mode:
    MODES[export.__name__] = export
    return export


@_mode
def nonstrict(model: nn.Module, inputs: Inputs, shapes: Any, further: Mapping[str, Any]) -> ExportedProgram:
    """Trace through the Python interpreter."""
    _load_examples()  # torch.cond and its like go through Dynamo here as well
    return torch.export.export(
        model, inputs.args, inputs.kwargs, dynamic_shapes=shapes, strict=False, **further
    )


@_mode
def strict(model: nn.Module, inputs: Inputs, shapes: Any, further: Mapping[str, Any]) -> ExportedProgram:
    """Trace through Dynamo."""
    _load_examples()
    return torch.export.export(
        model, inputs.args, inputs.kwargs, dynamic_shapes=shapes, strict=True, **further
    )


@_mode
def aoti(model: nn.Module, inputs: Inputs, shapes: Any, further: Mapping[str, Any]) -> ExportedProgram:
    """Export in non-strict mode, for AOTInductor."""
    return nonstrict(model, inputs, shapes, further)


@cache
def _load_examples() -> None:
    """Import what Dynamo imports at its first error in a process.

    That builds modules and so moves the global random number generator
    (corpora/open/failed_export_draws_random_numbers.py): whether a program shows it would depend on what ran
    before.
    """
    with torch.random.fork_rng(devices=[]):
        importlib.import_module("torch._export.db.examples")

"""The table of modes: how a model is captured. One entry adds a mode.

A mode that exports is one decorated function. A mode that exports nothing needs a function in
runtime/paths/run/by_export.py too, which observes it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from exportdiff.core.lazy import torch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import nn
    from torch.export import ExportedProgram

    from exportdiff.runtime.observing.arguments import Inputs

Export = Callable[["nn.Module", "Inputs", object, "Mapping[str, Any]"], "ExportedProgram"]
"""From a model, its example inputs, a spec of dynamic shapes (None: there is none) and further arguments."""


@dataclass(frozen=True)
class Mode:
    """One way to capture a model."""

    name: str
    cost: float
    """Milliseconds of a path without transforms, for a model of the usual size."""
    export: Export | None = None
    """None: the mode exports nothing, and its runners take the model itself."""
    call: str = "torch.export.export"
    """In a repro file: the function that exports."""
    needs: tuple[str, ...] = ()
    """Names of torch that it uses and not every supported version has; without one its paths are left out."""
    loads: bool = False
    """Whether it exports nothing, and loads the program that was saved with the case. Its paths are not
    listed: without such a program there is nothing to run."""
    deviations: frozenset[str] | None = None
    """Of a backend: the kinds of deviation that it promises to notice. None: those of PROMISED_DEVIATIONS."""


MODES: dict[str, Mode] = {}
"""By name, in the canonical order."""


def _add(mode: Mode) -> None:
    MODES[mode.name] = mode


def _mode(
    *, cost: float, call: str = "torch.export.export", needs: tuple[str, ...] = (), loads: bool = False
) -> Callable[[Export], Export]:
    def add(export: Export) -> Export:
        _add(Mode(export.__name__, cost, export, call, needs, loads))
        return export

    return add


@_mode(cost=25)
def nonstrict(model: nn.Module, inputs: Inputs, shapes: Any, further: Mapping[str, Any]) -> ExportedProgram:
    """Trace through the Python interpreter."""
    _load_examples()  # torch.cond and similar operators use Dynamo here too
    return torch.export.export(
        model, inputs.args, inputs.kwargs, dynamic_shapes=shapes, strict=False, **further
    )


@_mode(cost=100)
def strict(model: nn.Module, inputs: Inputs, shapes: Any, further: Mapping[str, Any]) -> ExportedProgram:
    """Trace through Dynamo."""
    _load_examples()
    return torch.export.export(
        model, inputs.args, inputs.kwargs, dynamic_shapes=shapes, strict=True, **further
    )


class UnsoundError(Exception):
    """draft_export made a program, and its report names what may be wrong with it."""


@_mode(cost=60, call="torch.export.draft_export", needs=("torch.export.draft_export",))
def draft(model: nn.Module, inputs: Inputs, shapes: Any, further: Mapping[str, Any]) -> ExportedProgram:
    """Trace like ``nonstrict``, with real tensors as well as fake ones. Raises UnsoundError."""
    _load_examples()
    program: Any = torch.export.draft_export(
        model, inputs.args, inputs.kwargs, dynamic_shapes=shapes, strict=False, **further
    )
    report = program._report
    if report is not None and not report.successful():
        raise UnsoundError(", ".join(sorted({each.failure_type.name for each in report.failures})))
    drafted: ExportedProgram = program
    return drafted


_add(Mode("compile", cost=220, needs=("torch._dynamo.config.recompile_limit",)))
_add(Mode("pipeline", cost=60))


@_mode(cost=7000)
def aoti(model: nn.Module, inputs: Inputs, shapes: Any, further: Mapping[str, Any]) -> ExportedProgram:
    """Export in non-strict mode, for AOTInductor."""
    return nonstrict(model, inputs, shapes, further)


SAVED = "program"
"""Among the further arguments of a mode that loads: the key of the file."""


@_mode(cost=30, call="torch.export.load", loads=True)
def file(model: nn.Module, inputs: Inputs, shapes: Any, further: Mapping[str, Any]) -> ExportedProgram:
    """Load a program that somebody else has exported and saved."""
    return torch.export.load(further[SAVED])


@cache
def _load_examples() -> None:
    """Import what Dynamo imports at its first error in a process.

    That import builds modules, and so moves the global random number generator
    (corpora/open/failed_export_draws_random_numbers.py). Without this call, what ran before would decide
    whether a program shows it.
    """
    with torch.random.fork_rng(devices=[]):
        importlib.import_module("torch._export.db.examples")

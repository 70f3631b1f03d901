"""Runs eager, or an exported model along a path, and logs every operator: to find where the two part."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from exportdiff.core.case import seed
from exportdiff.core.torch_versions.running import nodes_with_stack_traces, nothing_compiled
from exportdiff.runtime.inputs.copies import build
from exportdiff.runtime.inputs.edits import edit, plan_edits
from exportdiff.runtime.observing.aliasing import named_tensors
from exportdiff.runtime.observing.caches import forget_compiled
from exportdiff.runtime.observing.captured_output import capture_output
from exportdiff.runtime.observing.code_places import CodePlace, ModuleCalls, place_of_error
from exportdiff.runtime.observing.gradients import gradient_tensors
from exportdiff.runtime.observing.operator_log import OperatorLog
from exportdiff.runtime.observing.process_state import restore_modes
from exportdiff.runtime.observing.tensors import flatten, state_snapshot
from exportdiff.runtime.paths.modes import MODES
from exportdiff.runtime.paths.runners import RUNNERS
from exportdiff.runtime.paths.transforms.apply import (
    edit_module,
    export_arguments,
    extra_arguments,
    reference_case,
    transform_module,
    transform_program,
    varied_case,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch import nn

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Stage
    from exportdiff.core.path import Path
    from exportdiff.runtime.inputs.copies import Examples
    from exportdiff.runtime.inputs.edits import EditPlan
    from exportdiff.runtime.observing.operator_log import Event

GRADIENT = "gradient of "
"""How the names of gradients begin in a log."""


@dataclass(frozen=True)
class WantedCalls:
    """The calls to log."""

    ordinary: int = 1
    backward: bool = False
    """Whether to run the backward pass of the first call."""
    edited: bool = False
    """Whether to make the call after the state was edited."""
    deviation: tuple[str, str] | None = None
    """The kind and the description of the deviating call to make after the ordinary ones."""


@dataclass(frozen=True)
class LoggedRun:
    """One side."""

    events: Sequence[Event] = ()
    stage: Stage | None = None
    """The stage that raised."""
    raised_at: CodePlace = CodePlace()
    """Where it raised."""
    raised: str = ""
    """The exception in one line."""
    call: int = 0
    """The number of the call that raised."""
    first: Mapping[str, str] | None = None
    """The first name of each name of a module."""


def log_eager(case: Case, path: Path, wanted: WantedCalls) -> LoggedRun:
    """Run the model that the path is compared with."""
    forget_compiled()
    model, examples = build(reference_case(case, path), path.device)
    return _run(model, examples, wanted, plan_edits(state_snapshot(model)), case.source)


def log_path(case: Case, path: Path, wanted: WantedCalls) -> LoggedRun:
    """Export, apply the transforms, and run what the path calls."""
    varied = varied_case(case, path)
    forget_compiled()
    model, examples = build(varied, path.device)
    edits = plan_edits(state_snapshot(model))
    stage: Stage = "export"
    with restore_modes(), capture_output(), nodes_with_stack_traces():
        try:
            export = MODES[path.mode].export
            assert export is not None, "only paths that export are logged"
            program = export(model, examples.fresh(), varied.shapes(), export_arguments(path, model))
            stage = "lower"
            extra = extra_arguments(path, varied)
            final = transform_program(path, program, extra)
            made = RUNNERS[path.runner].function(final)
            lowered = edit_module(path, transform_module(path, made, final, extra), extra)
        except Exception as error:
            return LoggedRun(stage=stage, raised_at=place_of_error(error), raised=_line(error))
    return _run(lowered, examples, wanted, edits, case.source)


def _run(
    model: nn.Module, examples: Examples, wanted: WantedCalls, edits: EditPlan, source: str
) -> LoggedRun:
    calls = ModuleCalls(_inside(model))
    log = OperatorLog(calls, __file__)
    number = 0
    with calls(), restore_modes(), capture_output():
        try:
            for number in range(wanted.ordinary):
                named = _call(model, examples, log, number)
                if number == 0 and wanted.backward:
                    _backward(named, log)
            if wanted.edited:
                edit(model, edits)
                number = wanted.ordinary
                _call(model, examples, log, number, like=0)
            if wanted.deviation is not None:
                number = wanted.ordinary
                _deviate(model, examples, log, number, wanted.deviation, source)
        except Exception as error:
            return LoggedRun(log.events, "run", place_of_error(error), _line(error), number, calls.first)
    return LoggedRun(log.events, first=calls.first)


def _inside(model: nn.Module) -> nn.Module:
    """Return the user's model, if a transform has wrapped it."""
    while type(model).__module__.startswith(_TRANSFORMS) and isinstance(model._modules.get("module"), torch.nn.Module):
        model = model.get_submodule("module")
    return model


_TRANSFORMS = "exportdiff.runtime.paths.transforms."


def _call(
    model: nn.Module, examples: Examples, log: OperatorLog, number: int, like: int | None = None
) -> dict[str, torch.Tensor]:
    """Make call ``number``, with the inputs of call ``like``; return the tensors of the call by name."""
    inputs = examples.fresh(number if like is None else like)
    log.begin(number, named_tensors(None, inputs, model))
    seed(number)
    with restore_modes(), nothing_compiled(), log:
        outputs = model(*inputs.args, **inputs.kwargs)
    flatten(outputs)
    named = named_tensors(outputs, inputs, model)
    log.end(named)
    return named


def _backward(named: Mapping[str, torch.Tensor], log: OperatorLog) -> None:
    with log:
        flows = gradient_tensors(named)
    log.end({f"{GRADIENT}{name}": flow for name, flow in flows.items() if flow is not None})


def _deviate(
    model: nn.Module, examples: Examples, log: OperatorLog, number: int, key: tuple[str, str], source: str
) -> None:
    """Make one deviating call."""
    found = examples.deviations({key[0]}, source, model)
    one = next(one for one in found if (one.deviation, one.description) == key)
    inputs = examples.with_deviation(one)
    one.prepare(model)
    log.begin(number, named_tensors(None, inputs, model))
    seed(0)
    with restore_modes(), nothing_compiled(), contextlib.ExitStack() as stack:
        stack.enter_context(one.context())
        stack.enter_context(log)
        outputs = model(*inputs.args, **inputs.kwargs)
    log.end(named_tensors(outputs, inputs, model))


def _line(error: Exception) -> str:
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__

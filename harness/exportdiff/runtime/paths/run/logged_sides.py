"""The two sides of a path with every operator logged: made as the path and its reference make them."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from torch import nn

from exportdiff.core.torch_versions.running import nodes_with_stack_traces
from exportdiff.runtime.inputs.copies import build
from exportdiff.runtime.inputs.edits import plan_edits
from exportdiff.runtime.observing.caches import forget_compiled
from exportdiff.runtime.observing.captured_output import capture_output
from exportdiff.runtime.observing.process_state import restore_modes
from exportdiff.runtime.observing.tensors import state_snapshot
from exportdiff.runtime.paths.backends import mode_of, runner_of
from exportdiff.runtime.paths.run.compiled import dynamo_settings
from exportdiff.runtime.paths.run.logged import LoggedRun, Side, failed, run_logged
from exportdiff.runtime.paths.run.pipelined import flat
from exportdiff.runtime.paths.transforms.apply import (
    called_in_settings,
    edit_module,
    export_arguments,
    export_settings,
    extra_arguments,
    reference_case,
    takes_program,
    transform_module,
    transform_program,
    varied_case,
)

if TYPE_CHECKING:
    from exportdiff.core.case import Case
    from exportdiff.core.finding import Stage
    from exportdiff.core.path import Path
    from exportdiff.runtime.paths.run.logged import WantedCalls


def log_eager(case: Case, path: Path, wanted: WantedCalls) -> LoggedRun:
    """Run the model that the path is compared with."""
    side = _fresh(reference_case(_as_run(case, path), path), path)
    if path.mode == "pipeline":
        side = replace(side, run=flat(side.model))
    if called := called_in_settings(path, by_eager=True):
        side = replace(side, run=called(side.model))
    return run_logged(replace(side, restarts=path.mode == "compile"), wanted)


def log_path(case: Case, path: Path, wanted: WantedCalls) -> LoggedRun:
    """Make what the path calls, and run it."""
    case = varied_case(_as_run(case, path), path)
    side = _fresh(case, path)
    with nodes_with_stack_traces(), _around(path):
        stage: Stage = "export"
        with restore_modes(), capture_output():
            try:
                if path.mode == "compile":
                    run = runner_of(path).function(side.model)
                    side = replace(side, run=run, restarts=True, compiles=True)
                elif path.mode == "pipeline":
                    inputs = side.examples.fresh()
                    pipe = runner_of(path).function(side.model, inputs.args, inputs.kwargs)
                    side = replace(side, model=nn.Module(), run=flat(pipe))
                else:
                    export = mode_of(path.mode).export
                    assert export is not None, "the other modes are handled above"
                    inputs, further = side.examples.fresh(), export_arguments(path, side.model, case)
                    extra = extra_arguments(path, case)
                    with export_settings(path):
                        program = export(side.model, inputs, case.shapes(), further)
                        stage = "lower"
                        final = transform_program(path, program, extra)
                        made = final if takes_program(path) else runner_of(path).function(final)
                        made = transform_module(path, made, final, extra)
                    lowered = edit_module(path, made, extra)
                    side = replace(side, model=lowered, run=lowered)
            except Exception as error:
                return failed(stage, error)
        return run_logged(side, wanted)


def _fresh(case: Case, path: Path) -> Side:
    forget_compiled()
    model, examples = build(case, path.device)
    return Side(model, examples, plan_edits(state_snapshot(model)), case.source, model)


def _as_run(case: Case, path: Path) -> Case:
    """Return the case as the mode of the path runs it."""
    return replace(case, dynamic_shapes=None, probes=None) if path.mode == "pipeline" else case


def _around(path: Path) -> AbstractContextManager[None]:
    return dynamo_settings() if path.mode == "compile" else nullcontext()

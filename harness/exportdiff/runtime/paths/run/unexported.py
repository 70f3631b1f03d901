"""Runners of backends that get no exported program: they export by themselves, or run a file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from exportdiff.core.case import seed
from exportdiff.runtime.inputs.copies import build
from exportdiff.runtime.observing.captured_output import capture_output
from exportdiff.runtime.observing.failure import Failure, failure
from exportdiff.runtime.observing.observation import ExportedObservation
from exportdiff.runtime.observing.process_state import restore_modes
from exportdiff.runtime.observing.tensors import state_snapshot
from exportdiff.runtime.paths.backends import runner_of
from exportdiff.runtime.paths.catalog import not_promised
from exportdiff.runtime.paths.dynamic_sizes import may_narrow
from exportdiff.runtime.paths.packaged import as_module
from exportdiff.runtime.paths.run.aspects import without
from exportdiff.runtime.paths.run.model_calls import ModelCaller, plan_calls, run_calls

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Collection, Iterator, Sequence

    from torch import nn

    from exportdiff.core.case import Case
    from exportdiff.core.path import Path
    from exportdiff.runtime.paths.stopwatch import Stopwatch


def observe_unexported(
    case: Case, paths: Sequence[Path], clock: Stopwatch, modes: Collection[str]
) -> Iterator[ExportedObservation]:
    """Run along each path; ``modes`` are those of all paths of the case."""
    for path in paths:
        model, examples = build(case, path.device)
        plan = plan_calls(state_snapshot(model), examples, modes, case)
        module: nn.Module | None = None
        refused: Failure | None = None
        runner = runner_of(path)
        with restore_modes(), clock, capture_output():
            seed(0)
            example = examples.fresh()
            taken: tuple[object, ...]
            if runner.starts_from == "file":
                result = model(*example.args, **example.kwargs)  # the file does not keep the containers
                taken = _file(case), model, result
            else:
                taken = model, example.args, example.kwargs, case.shapes()
            try:
                module = as_module(runner.function(*taken))
            except Exception as error:
                refused = failure(error, "lower")
        narrow = runner.starts_from == "model" and may_narrow(case.shapes())
        seen = ExportedObservation(path, failure=refused, same_operators=False, may_narrow=narrow)
        if module is not None:
            with restore_modes():
                ran = run_calls(ModelCaller(module, clock), examples, plan, path.mode)
            seen = replace(seen, **ran._asdict())
        yield without(seen, not_promised(path))


def _file(case: Case) -> pathlib.Path:
    """Return the file of the case. Raises ValueError for another program, which is judged to explain it."""
    if case.program is None:
        raise ValueError("no saved program is given")
    return case.program.file

"""The compile mode: a model that Dynamo compiles as it runs.

There is no exported program: the model itself runs, so every call has to do all that its Python code does.
One extra call compiles the model. Then the model is restored to its start, and the usual calls follow; the
first of them must not compile anything. The reference is an eager model that makes the same calls.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch._dynamo import utils as dynamo

from exportdiff.runtime.inputs.copies import build
from exportdiff.runtime.inputs.deviations import PROMISED_DEVIATIONS
from exportdiff.runtime.inputs.edits import plan_edits
from exportdiff.runtime.observing.caches import forget_compiled, nothing_cached
from exportdiff.runtime.observing.captured_output import capture_output
from exportdiff.runtime.observing.checkpoint import Checkpoint
from exportdiff.runtime.observing.environment import aftermath
from exportdiff.runtime.observing.observation import Compilation, CompiledObservation, EagerObservation
from exportdiff.runtime.observing.process_state import restore_modes, use_threads
from exportdiff.runtime.observing.python_state import PythonState
from exportdiff.runtime.observing.tensors import state_snapshot
from exportdiff.runtime.paths.catalog import same_operators
from exportdiff.runtime.paths.packaged import numbers_of_eager
from exportdiff.runtime.paths.run.eager import eager_path
from exportdiff.runtime.paths.run.informative import informative_first
from exportdiff.runtime.paths.run.model_calls import CallPlan, CallResults, ModelCaller, run_calls
from exportdiff.runtime.paths.runners import RUNNERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import nn

    from exportdiff.core.case import Case
    from exportdiff.core.path import Path
    from exportdiff.runtime.inputs.copies import Examples
    from exportdiff.runtime.inputs.deviations import Deviation
    from exportdiff.runtime.observing.arguments import Inputs
    from exportdiff.runtime.observing.observation import Call
    from exportdiff.runtime.observing.tensors import State
    from exportdiff.runtime.paths.runners import Function
    from exportdiff.runtime.paths.stopwatch import Stopwatch


def observe_compiled(case: Case, paths: Sequence[Path], clock: Stopwatch) -> Iterator[CompiledObservation]:
    """Run the compiled model along each path, and make the same calls of an eager model."""
    for path in paths:
        with dynamo_settings(), use_threads(case.threads):
            seen = _observe(case, path, clock, restart=True) or _observe(case, path, clock, restart=False)
        assert seen is not None, "without a restart there is nothing to undo"
        yield seen


def _observe(case: Case, path: Path, clock: Stopwatch, *, restart: bool) -> CompiledObservation | None:
    """Return None if the model cannot be restored to its start."""
    eager = _run(case, path, None, clock, restart)
    compiled = _run(case, path, RUNNERS[path.runner].function, clock, restart) if eager else None
    if eager is None or compiled is None:
        return None
    return CompiledObservation(
        path,
        same_operators=same_operators(path) and case.threads < 2,
        reference=EagerObservation(eager_path(path.device), before=eager[0], **eager[1]._asdict()),
        restarted=restart,
        before=compiled[0],
        **compiled[1]._asdict(),
    )


def _run(
    case: Case, path: Path, compiler: Function | None, clock: Stopwatch, restart: bool
) -> tuple[State, CallResults] | None:
    """Return the state before the first call, and the calls; without a compiler, those of eager.

    Return None if the model cannot be restored to its start.
    """
    forget_compiled()
    model, examples = build(case, path.device)
    before, start, python = state_snapshot(model), Checkpoint(model), PythonState(model)
    caller = _CompilingCaller(model, clock, roles=compiler is None, run=compiler(model) if compiler else None)
    first: tuple[Call, ...] = ()
    if restart:
        with restore_modes():
            first = (caller(examples.fresh(), 0)[0],)
        if first[0].failure is not None:
            python.undo()
            return before, CallResults(first)
        python.undo()
        if not start.restore():
            return None
    with restore_modes():
        ran = run_calls(caller, examples, _plan_calls(before, model, examples, path, case), path.mode)
    python.undo()
    return before, ran._replace(calls=(*first, *ran.calls))


def _plan_calls(state: State, model: nn.Module, examples: Examples, path: Path, case: Case) -> CallPlan:
    """Plan what to do after the ordinary calls, from the state of a fresh model."""
    names = PROMISED_DEVIATIONS[path.mode]
    deviations = informative_first(
        examples.deviations(names, case.source, model), case, path.device, "functions", TRIED
    )
    limit = None if case.thorough else DEVIATING_CALLS
    return CallPlan(plan_edits(state), tuple(deviations[:limit]), {path.mode: names})


TRIED = 16
"""How many deviating calls are tried in eager to see whether they are informative: more than for export."""

DEVIATING_CALLS = 3
"""The number of deviating calls, unless the case is thorough: each one compiles, which takes most time."""


@contextlib.contextmanager
def dynamo_settings() -> Iterator[None]:
    """Make Dynamo compile everything, and empty its caches at the end.

    By default Dynamo gives up on code after eight compilations; a case may need more.
    """
    # By default unused random numbers are not drawn (github.com/pytorch/pytorch/pull/147790).
    with numbers_of_eager(), torch._dynamo.config.patch(recompile_limit=64), nothing_cached():
        try:
            yield
        finally:
            forget_compiled()


class _CompilingCaller(ModelCaller):
    """Also records what was compiled, and the side effects of a call."""

    def __call__(
        self, inputs: Inputs, number: int, *, probe: bool = False, deviation: Deviation | None = None
    ) -> tuple[Call, dict[str, torch.Tensor]]:
        dynamo.clear_compilation_metrics()
        with capture_output() as printed:
            call, named = super().__call__(inputs, number, probe=probe, deviation=deviation)
        left = aftermath(self.model)
        # The printed text may contain addresses: only whether something is printed is compared.
        state = {**left.process_state, **{f"text on {stream}": True for stream in printed.texts()}}
        compilations = tuple(map(_compilation, dynamo.get_compilation_metrics()))
        changed = frozenset() if call.aftermath is None else call.aftermath.changed
        left = replace(left, process_state=state, changed=changed)
        return replace(call, compiled=compilations, aftermath=left), named


def _compilation(metrics: dynamo.CompilationMetrics) -> Compilation:
    return Compilation(
        code=metrics.co_name or "",
        file=_file(metrics.co_filename or ""),
        because=metrics.recompile_reason or "",
    )


def _file(name: str) -> str:
    """Return the path of a file inside torch; ``program`` for any other file."""
    _, found, inside = name.rpartition("/torch/")
    return f"torch/{inside}" if found else "program"

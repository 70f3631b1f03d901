"""The compile mode: a model that Dynamo compiles as it runs.

There is no exported program: what runs is the model itself, so it promises all that Python does, in every
call. It is compiled in a call of its own; then the model is put back to its start, and the usual calls
follow, of which the first has to find everything compiled. Eager does the same beside it.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING
from unittest import mock

import torch
from torch._dynamo import guards
from torch._dynamo import utils as dynamo

from harness.inputs.copies import build
from harness.inputs.deviations import PROMISED
from harness.inputs.edits import plan_edits
from harness.observe.caches import forget_compiled, nothing_cached
from harness.observe.checkpoint import Checkpoint
from harness.observe.environment import aftermath
from harness.observe.observation import Compilation, CompiledObservation, EagerObservation
from harness.observe.printing import capture_output
from harness.observe.process_state import restore_modes
from harness.observe.tensors import state_snapshot
from harness.paths.catalog import same_operators
from harness.paths.run.calls import CallPlan, CallResults, ModelCaller, run_calls
from harness.paths.run.eager import eager_path
from harness.paths.run.informative import informative_first
from harness.paths.runners import RUNNERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import nn

    from harness.case import Case
    from harness.inputs.copies import Examples
    from harness.observe.arguments import Inputs
    from harness.observe.observation import Call
    from harness.observe.tensors import State
    from harness.path import Path
    from harness.paths.runners import Function
    from harness.paths.stopwatch import Stopwatch


def observe_compiled(case: Case, paths: Sequence[Path], clock: Stopwatch) -> Iterator[CompiledObservation]:
    """Run a model compiled along each path, and eagerly in the very same way."""
    for path in paths:
        with dynamo_settings():
            seen = _observe(case, path, clock, restart=True) or _observe(case, path, clock, restart=False)
        assert seen is not None, "without a restart there is nothing to undo"
        yield seen


def _observe(case: Case, path: Path, clock: Stopwatch, *, restart: bool) -> CompiledObservation | None:
    """Return None where the model cannot be put back to its start."""
    eager = _run(case, path, None, clock, restart)
    compiled = _run(case, path, RUNNERS[path.runner].function, clock, restart) if eager else None
    if eager is None or compiled is None:
        return None
    return CompiledObservation(
        path,
        same_operators=same_operators(path),
        reference=EagerObservation(eager_path(path.device), before=eager[0], **eager[1]._asdict()),
        restarted=restart,
        before=compiled[0],
        **compiled[1]._asdict(),
    )


def _run(
    case: Case, path: Path, compiler: Function | None, clock: Stopwatch, restart: bool
) -> tuple[State, CallResults] | None:
    """Return the state before the first call, and the calls; without a compiler, those of eager.

    Return None where the model cannot be put back to its start.
    """
    forget_compiled()
    model, examples = build(case, path.device)
    before, start = state_snapshot(model), Checkpoint(model)
    caller = _Watching(model, clock, roles=compiler is None, run=compiler(model) if compiler else None)
    first: tuple[Call, ...] = ()
    if restart:
        with restore_modes():
            first = (caller(examples.fresh(), 0)[0],)
        if first[0].failure is not None:
            return before, CallResults(first)
        if not start.restore():
            return None
    with restore_modes():
        ran = run_calls(caller, examples, _plan_calls(before, model, examples, path, case), path.mode)
    return before, ran._replace(calls=(*first, *ran.calls))


def _plan_calls(state: State, model: nn.Module, examples: Examples, path: Path, case: Case) -> CallPlan:
    """Plan what follows the ordinary calls, from the state of a fresh model."""
    names = PROMISED[path.mode]
    deviations = informative_first(
        examples.deviations(names, case.source, model), case, path.device, "functions", TRIED
    )
    limit = None if case.thorough else DEVIATING_CALLS
    return CallPlan(plan_edits(state), tuple(deviations[:limit]), {path.mode: names})


TRIED = 16
"""Of so many deviating calls eager says whether they are telling: twice as many ways as export has."""

DEVIATING_CALLS = 3
"""Each of them is one more compilation: they take most of the time, of a case that is one of thousands."""


@contextlib.contextmanager
def dynamo_settings() -> Iterator[None]:
    """Compile everything that is asked for, and forget it afterwards.

    Dynamo gives up on code that it has compiled eight times; there may be more kinds of inputs than that.
    """
    # Dynamo times its guards against an empty cache, which takes a third of all compiling, to log the figure.
    untimed = mock.patch.object(guards, "profile_guard_manager", lambda *_: 0.0)
    # By default random numbers that nobody reads are not drawn (github.com/pytorch/pytorch/pull/147790), and
    # Inductor draws others than eager.
    same_random = torch._inductor.config.patch(fallback_random=True)
    with untimed, same_random, torch._dynamo.config.patch(recompile_limit=64), nothing_cached():
        try:
            yield
        finally:
            forget_compiled()


class _Watching(ModelCaller):
    """Writes down as well what was compiled, and what a call leaves behind."""

    def __call__(
        self, inputs: Inputs, number: int, *, probe: bool = False
    ) -> tuple[Call, dict[str, torch.Tensor]]:
        dynamo.clear_compilation_metrics()
        with capture_output() as printed:
            call, named = super().__call__(inputs, number, probe=probe)
        left = aftermath(self.model)
        # What exactly is printed may hold addresses: it is enough that both do, or neither.
        state = {**left.process_state, **{f"text on {stream}": True for stream in printed.texts()}}
        compilations = tuple(map(_compilation, dynamo.get_compilation_metrics()))
        return replace(call, compiled=compilations, aftermath=replace(left, process_state=state)), named


def _compilation(metrics: dynamo.CompilationMetrics) -> Compilation:
    reasons = sorted(metrics.restart_reasons or ())
    if metrics.fail_reason:
        reasons.append(metrics.fail_reason)
    return Compilation(
        code=metrics.co_name or "",
        file=_file(metrics.co_filename or ""),
        because=metrics.recompile_reason or "",
        broke=tuple(reason.strip().partition("\n")[0] for reason in reasons),
    )


def _file(name: str) -> str:
    """Return the path inside torch; of anything else, that it is the program."""
    _, found, inside = name.rpartition("/torch/")
    return f"torch/{inside}" if found else "program"

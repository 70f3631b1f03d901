"""Makes all calls of one model, eager or not, and records each."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NamedTuple

from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack

from exportdiff.core.case import seed
from exportdiff.runtime.inputs.copies import CALLS
from exportdiff.runtime.inputs.deviations import DEVIATIONS, PROMISED_DEVIATIONS
from exportdiff.runtime.inputs.edits import edit, plan_edits
from exportdiff.runtime.observing.aliasing import OUTPUT, memory, mutation_probes, named_tensors
from exportdiff.runtime.observing.autograd_history import has_history
from exportdiff.runtime.observing.checkpoint import Checkpoint
from exportdiff.runtime.observing.failure import failure
from exportdiff.runtime.observing.gradients import gradients, of_unregistered
from exportdiff.runtime.observing.observation import Aftermath, Call, DeviatingCall, SmallCall
from exportdiff.runtime.observing.process_state import (
    RANDOM_STATE,
    read_process_state,
    restore_modes,
)
from exportdiff.runtime.observing.roles import Roles
from exportdiff.runtime.observing.saved_tensors import SavedModule, SavedTensors
from exportdiff.runtime.observing.tensors import flatten, state_snapshot, tree_snapshot
from exportdiff.runtime.paths.backends import mode_of
from exportdiff.runtime.paths.run.informative import informative_first

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    import torch
    from torch import nn

    from exportdiff.core.case import Case
    from exportdiff.runtime.inputs.copies import Examples
    from exportdiff.runtime.inputs.deviations import Deviation
    from exportdiff.runtime.inputs.edits import EditPlan
    from exportdiff.runtime.observing.aliasing import MutationProbe
    from exportdiff.runtime.observing.arguments import Inputs
    from exportdiff.runtime.observing.failure import Failure
    from exportdiff.runtime.observing.gradients import Gradients
    from exportdiff.runtime.observing.tensors import State
    from exportdiff.runtime.paths.read.hierarchy import CallRecorder
    from exportdiff.runtime.paths.stopwatch import Stopwatch


class CallResults(NamedTuple):
    """The results of all calls: fields of an Observation."""

    calls: tuple[Call, ...]
    gradients: Gradients | None = None
    edited: Call | None = None
    mutation_probes: tuple[MutationProbe, ...] = ()
    deviations: tuple[DeviatingCall, ...] = ()
    small_calls: tuple[SmallCall, ...] = ()
    backward_after_writes: Failure | None = None


class CallPlan(NamedTuple):
    """What to do after the ordinary calls; the same for eager and for every path."""

    edits: EditPlan
    """The tensors of the state to edit."""
    deviations: tuple[Deviation, ...]
    """The deviating calls, for all modes."""
    names: Mapping[str, frozenset[str]]
    """By mode, the kinds of deviation to try on it."""
    small_calls: tuple[int, ...] = ()
    """The numbers of the probes that have a size of 0 or 1 where the example has a larger one."""


def run_calls(
    caller: ModelCaller,
    examples: Examples,
    plan: CallPlan | None,
    mode: str = "",
    recorder: CallRecorder | None = None,
    after: Callable[[], None] | None = None,
    *,
    backwards: bool = False,
) -> CallResults:
    """Make all calls, one after the other; without a plan, only the ordinary ones.

    The order matters: calls that change the state in a special way come last. Nothing follows an ordinary
    call that raised. Without a ``mode`` the model is eager: it gets the whole plan. ``recorder`` records the
    first call; ``after`` is called after each ordinary call. ``backwards``, without a plan: the last call is
    made first; the results are in the usual order.
    """
    calls: list[Call] = []
    flow: Gradients | None = None
    numbers = range(examples.calls)
    for number in reversed(numbers) if backwards else numbers:
        with recorder() if recorder is not None and number == 0 else contextlib.nullcontext():
            call, named = caller(examples.fresh(number), number, probe=number >= CALLS)
        calls.append(call)
        if after is not None:
            after()
        if call.failure is not None:
            return CallResults(tuple(calls), flow)
        if recorder is not None and number == 0:
            recorder.finish(tensor for name, tensor in named.items() if name.startswith(OUTPUT))
        if number == 0 and plan is not None:
            with caller.clock:
                flow = _gradients(caller.model, named)
    if plan is None:
        return CallResults(tuple(reversed(calls) if backwards else calls))
    deviations, restored = _deviations(caller, examples, plan, mode)
    if not restored:
        return CallResults(tuple(calls), flow, deviations=deviations)
    small, restored = _small_calls(caller, examples, plan, mode)
    if not restored:
        return CallResults(tuple(calls), flow, deviations=deviations, small_calls=small)
    edit(caller.model, plan.edits)
    edited, named = caller(examples.fresh(), len(calls))
    probes = mutation_probes(named)
    barred = None
    if any(probe.tracked for probe in probes):
        with caller.clock:
            barred = gradients(named).failure
    return CallResults(tuple(calls), flow, edited, probes, deviations, small, barred)


def _gradients(model: nn.Module, named: Mapping[str, torch.Tensor]) -> Gradients:
    """Run the backward pass, and undo what it writes to buffers.

    torch.utils.checkpoint runs modules again in the backward pass, and batch norm counts that. The following
    calls are compared, so a backward pass must not change their results.
    """
    saved = SavedTensors(buffer for buffer in model.buffers() if not has_history(buffer))
    flow = gradients(named)
    if not saved.is_unchanged():
        saved.restore()
    return flow


class ModelCaller:
    """Calls one model, or ``run`` instead, and records each call."""

    def __init__(
        self,
        model: nn.Module,
        clock: Stopwatch,
        *,
        roles: bool = False,
        run: Callable[..., object] | None = None,
    ) -> None:
        """``model`` has the state; ``run`` is called instead of it. ``roles``: record those of outputs."""
        self.model = model
        self.clock = clock
        self._run = model if run is None else run
        self._roles = roles
        self.draws = False
        """Whether a call has drawn random numbers."""

    def __call__(
        self, inputs: Inputs, number: int, *, probe: bool = False, deviation: Deviation | None = None
    ) -> tuple[Call, dict[str, torch.Tensor]]:
        """Make call ``number``; return the record, and the live tensors of the call by name.

        ``deviation`` may prepare the model. If the model refuses that, the call is refused.
        """
        role = Roles(self.model, inputs.leaves) if self._roles else None
        outputs: Any = None
        failed: Failure | None = None
        # Every path gets the same random numbers if it draws them in the same order.
        seed(number)
        start = read_process_state()
        with self.clock:
            try:
                if deviation is not None:
                    deviation.prepare(self.model)
                outputs = self._run(*inputs.args, **inputs.kwargs)
                flatten(outputs)  # raises for an object that was never initialised
            except Exception as error:
                failed = failure(error, "run")
        left = read_process_state()
        changed = frozenset(name for name in left if left[name] != start[name])
        del left[RANDOM_STATE]  # export drops numbers that nothing uses
        self.draws |= RANDOM_STATE in changed
        named = named_tensors(None if failed else outputs, inputs, self.model)
        # If a graph fails inside of jvp, it leaves a functorch level open, on which no tensor can be read.
        with temporarily_clear_interpreter_stack() if failed else contextlib.nullcontext():
            call = Call(
                inputs=inputs.snapshot(),
                state=state_snapshot(self.model, identity=False),
                outputs=None if failed else tree_snapshot(outputs, role),
                failure=failed,
                probe=probe,
                refilled=inputs.refilled(),
                memory=memory(named),
                unregistered=of_unregistered(named) if self._roles else frozenset(),
                aftermath=Aftermath(left, {}, changed),
            )
        return call, named


def _deviations(
    caller: ModelCaller, examples: Examples, plan: CallPlan, mode: str
) -> tuple[tuple[DeviatingCall, ...], bool]:
    """Make the deviating calls; also return whether the model is restored to the state before them."""
    wanted = [one for one in plan.deviations if not mode or one.deviation in plan.names.get(mode, ())]
    start = _start(caller.model, mode)
    if not wanted:  # restoring removes the autograd history, as eager does here for the calls of all modes
        return (), start.restore()
    before = state_snapshot(caller.model, identity=False)
    made: list[DeviatingCall] = []
    for one in wanted:
        inputs = examples.with_deviation(one)
        handed_in = inputs.snapshot()
        with restore_modes(), one.context():  # a call that fails halfway may leave modes changed
            call, _ = caller(inputs, 0, deviation=one)
        value = repr(one.leaf) if isinstance(one.target, str) else ""
        then, restored = None, True
        if not mode:  # what an ordinary call gives instead
            restored = start.restore()
            then = caller(examples.fresh(), 0)[0] if restored else None
        elif call.failure is not None and not isinstance(one.target, str) and start.is_unchanged():
            with restore_modes():
                then = caller(examples.fresh(), 0)[0]
        restored = restored and start.restore()
        made.append(
            DeviatingCall(one.deviation, one.description, call, handed_in, before, one.where, value, then)
        )
        if not restored:
            return tuple(made), False
    return tuple(made), True


def _small_calls(
    caller: ModelCaller, examples: Examples, plan: CallPlan, mode: str
) -> tuple[tuple[SmallCall, ...], bool]:
    """Make the calls with small sizes; also return whether the model is restored to the state before them."""
    if not plan.small_calls:
        return (), True
    start = _start(caller.model, mode)
    made: list[SmallCall] = []
    for number in plan.small_calls:
        inputs = examples.fresh(number)
        handed_in = inputs.snapshot()
        with restore_modes():
            call, _ = caller(inputs, number, probe=True)
        made.append(SmallCall(number, handed_in, call))
        if not start.restore():
            return tuple(made), False
    return tuple(made), True


def _start(model: nn.Module, mode: str) -> SavedModule | Checkpoint:
    """Keep the state of a model, to restore it after a call; without a ``mode`` it is eager."""
    # The model itself may change its lists and dicts; in an exported program these are constants.
    exports = bool(mode) and mode_of(mode).export is not None
    return SavedModule(model) if exports else Checkpoint(model)


def plan_calls(state: State, examples: Examples, modes: Iterable[str], case: Case) -> CallPlan:
    """Plan what to do after the ordinary calls, from the state of a fresh model."""
    limit = None if case.thorough else DEVIATING_CALLS
    names = {mode: _deviations_of(mode, case) for mode in _in_order(modes)}
    ways = dict.fromkeys(names.values())
    in_order = (
        informative_first(examples.deviations(some, case.source), case, examples.device, "operators", TRIED)
        for some in ways
    )
    chosen = {one.key: one for each in in_order for one in each[:limit]}
    return CallPlan(plan_edits(state), tuple(chosen.values()), names, examples.small_calls)


def _in_order(modes: Iterable[str]) -> list[str]:
    """Return the modes with promised deviations in the order of the table; those of backends come last."""
    given = set(modes)
    own = [mode for mode in PROMISED_DEVIATIONS if mode in given]
    return [*own, *sorted(mode for mode in given if mode_of(mode).deviations is not None)]


def _deviations_of(mode: str, case: Case) -> frozenset[str]:
    """Return the kinds of deviation to try on a mode."""
    of_backend = mode_of(mode).deviations
    if of_backend is not None:
        return of_backend
    return frozenset(DEVIATIONS) if case.thorough else PROMISED_DEVIATIONS[mode]


TRIED = 8
"""How many deviating calls are tried in eager to see whether they are informative. Each takes about 1 ms."""

DEVIATING_CALLS = 2
"""The number of deviating calls per mode, unless the case is thorough."""

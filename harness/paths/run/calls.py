"""The calls made of one artefact, eager or not, and what is seen of each."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NamedTuple

from harness.case import seed
from harness.inputs.copies import CALLS
from harness.inputs.deviations import DEVIATIONS, PROMISED
from harness.inputs.edits import edit, plan_edits
from harness.observe.aliasing import OUTPUT, memory, mutation_probes, named_tensors
from harness.observe.failure import failure
from harness.observe.gradients import gradients
from harness.observe.isolation import Start, own_modes
from harness.observe.observation import Call, DeviatingCall
from harness.observe.tensors import Roles, flatten, state_snapshot, tree_snapshot
from harness.paths.run.informative import informative_first

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    import torch
    from torch import nn

    from harness.case import Case
    from harness.inputs.copies import Examples, Inputs
    from harness.inputs.deviations import Deviation
    from harness.inputs.edits import Plan
    from harness.observe.aliasing import MutationProbe
    from harness.observe.failure import Failure
    from harness.observe.gradients import Gradients
    from harness.observe.tensors import State
    from harness.paths.read.hierarchy import Watch
    from harness.paths.stopwatch import Stopwatch


class Ran(NamedTuple):
    """What calling an artefact showed: the fields of an Observation."""

    calls: tuple[Call, ...]
    gradients: Gradients | None = None
    edited: Call | None = None
    mutation_probes: tuple[MutationProbe, ...] = ()
    deviations: tuple[DeviatingCall, ...] = ()


class Agenda(NamedTuple):
    """What to do besides the calls themselves; the same for eager and for every path."""

    plan: Plan
    """Which tensors of the state to edit."""
    deviations: tuple[Deviation, ...]
    """The calls that leave the spec, of any mode."""
    names: Mapping[str, frozenset[str]]
    """By mode, the deviations that it gets to see."""


def run_calls(
    runner: Runner,
    examples: Examples,
    agenda: Agenda | None,
    mode: str = "",
    watch: Watch | None = None,
    after: Callable[[], None] | None = None,
) -> Ran:
    """Make all calls, each after the other; without an agenda the ordinary ones alone.

    The order matters: what leaves the artefact in a state of its own comes last. Nothing follows a call
    that raised. Without a ``mode`` it is eager that runs: all of the agenda. ``watch`` gets to see the
    first call; ``after`` is called after each ordinary one.
    """
    calls: list[Call] = []
    flow: Gradients | None = None
    for number in range(examples.calls):
        with watch() if watch is not None and number == 0 else contextlib.nullcontext():
            call, named = runner(examples.fresh(number), number, probe=number >= CALLS)
        calls.append(call)
        if after is not None:
            after()
        if call.failure is not None:
            return Ran(tuple(calls), flow)
        if watch is not None and number == 0:
            watch.finish(tensor for name, tensor in named.items() if name.startswith(OUTPUT))
        if number == 0 and agenda is not None:
            with runner.clock:
                flow = gradients(named)
    if agenda is None:
        return Ran(tuple(calls))
    deviations, restored = _deviations(runner, examples, agenda, mode)
    if not restored:
        return Ran(tuple(calls), flow, deviations=deviations)
    edit(runner.model, agenda.plan)
    edited, named = runner(examples.fresh(), len(calls))
    return Ran(tuple(calls), flow, edited, mutation_probes(named), deviations)


class Runner:
    """Calls one model, or ``run`` in its place, and writes down what is to be seen."""

    def __init__(
        self,
        model: nn.Module,
        clock: Stopwatch,
        *,
        roles: bool = False,
        run: Callable[..., object] | None = None,
    ) -> None:
        """Keep what to call, and whose state it works on; ``roles`` are those of eager's outputs."""
        self.model = model
        self.clock = clock
        self._run = model if run is None else run
        self._roles = roles

    def __call__(
        self, inputs: Inputs, number: int, *, probe: bool = False
    ) -> tuple[Call, dict[str, torch.Tensor]]:
        """Make call ``number``; return the tensors that it touched as well."""
        role = Roles(self.model, inputs.leaves) if self._roles else None
        outputs: Any = None
        failed: Failure | None = None
        # The same random numbers for every path, as far as it draws them in the same order.
        seed(number)
        with self.clock:
            try:
                outputs = self._run(*inputs.args, **inputs.kwargs)
                flatten(outputs)  # an object that was never initialised has no leaves to give
            except Exception as error:
                failed = failure(error, "run")
        named = {} if failed else named_tensors(outputs, inputs, self.model)
        call = Call(
            inputs=inputs.snapshot(),
            state=state_snapshot(self.model, identity=False),
            outputs=None if failed else tree_snapshot(outputs, role),
            failure=failed,
            probe=probe,
            memory=memory(named),
        )
        return call, named


def _deviations(
    runner: Runner, examples: Examples, agenda: Agenda, mode: str
) -> tuple[tuple[DeviatingCall, ...], bool]:
    """Make the calls that leave the spec; return as well whether the model is as before them."""
    wanted = [one for one in agenda.deviations if not mode or one.deviation in agenda.names.get(mode, ())]
    start = Start(runner.model)
    if not wanted:  # eager, which makes those of all modes, loses its gradient history at this point
        return (), start.restore()
    before = state_snapshot(runner.model, identity=False)
    made: list[DeviatingCall] = []
    for one in wanted:
        inputs = examples.with_deviation(one)
        handed_in = inputs.snapshot()
        one.prepare(runner.model)
        with own_modes(), one.surroundings():  # a call that fails halfway may leave modes changed
            call, _ = runner(inputs, 0)
        value = repr(one.leaf) if isinstance(one.place, str) else ""
        made.append(DeviatingCall(one.deviation, one.words, call, handed_in, before, one.where, value))
        if not start.restore():
            return tuple(made), False
    return tuple(made), True


def make_agenda(state: State, examples: Examples, modes: Iterable[str], case: Case) -> Agenda:
    """Plan what follows the ordinary calls, from the state of a fresh model."""
    limit = None if case.thorough else DEVIATING_CALLS
    names = {
        mode: frozenset(DEVIATIONS) if case.thorough else PROMISED[mode] for mode in PROMISED if mode in modes
    }
    ways = dict.fromkeys(names.values())
    in_order = (
        informative_first(examples.deviations(some, case.source), case, examples.device, "operators", TRIED)
        for some in ways
    )
    chosen = {one.key: one for each in in_order for one in each[:limit]}
    return Agenda(plan_edits(state), tuple(chosen.values()), names)


TRIED = 8
"""Of so many deviating calls eager says whether they are telling: about a millisecond each."""

DEVIATING_CALLS = 2
"""So many a mode, of a case that is one of thousands."""

"""Runs eager, or a model along a path, and logs every operator: to find where the two part."""

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch

from exportdiff.core.case import seed
from exportdiff.core.torch_versions.running import nothing_compiled
from exportdiff.runtime.inputs.edits import edit
from exportdiff.runtime.observing.aliasing import named_tensors
from exportdiff.runtime.observing.captured_output import capture_output
from exportdiff.runtime.observing.checkpoint import Checkpoint
from exportdiff.runtime.observing.code_places import CodePlace, ModuleCalls, place_of_error
from exportdiff.runtime.observing.gradients import gradient_tensors
from exportdiff.runtime.observing.operator_log import OperatorLog
from exportdiff.runtime.observing.process_state import restore_modes
from exportdiff.runtime.observing.return_lines import noted_returns
from exportdiff.runtime.observing.tensors import flatten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch import nn

    from exportdiff.core.finding import Stage
    from exportdiff.runtime.inputs.copies import Examples
    from exportdiff.runtime.inputs.deviations import Deviation
    from exportdiff.runtime.inputs.edits import EditPlan
    from exportdiff.runtime.observing.arguments import Inputs
    from exportdiff.runtime.observing.operator_log import LogEntry

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
    """One side: what it logged, and what ended it."""

    events: Sequence[LogEntry] = ()
    requires_grad: Mapping[int, bool] = field(default_factory=dict)
    """By the index of an event: whether a result required grad when something read it."""
    stage: Stage | None = None
    """The stage that raised."""
    raised_at: CodePlace = field(default_factory=CodePlace)
    """Where it raised."""
    raised: str = ""
    """The exception in one line."""
    call: int | None = None
    """The number of the call that raised."""
    first: Mapping[str, str] | None = None
    """The first name of each name of a module."""
    returned: Mapping[int, CodePlace] = field(default_factory=dict)
    """By the number of a call: where the model returned, if ``forward`` belongs to the user."""


@dataclass(frozen=True)
class Side:
    """What is called, and how."""

    model: nn.Module
    """It has the state."""
    examples: Examples
    edits: EditPlan
    salt: str
    """What determines the deviating calls: the source of the case."""
    run: Callable[..., object]
    """What is called."""
    restarts: bool = False
    """Whether call 1 is call 0 once more, from the same start."""
    compiles: bool = False
    """Whether calls compile."""


def failed(stage: Stage, error: Exception) -> LoggedRun:
    """Return the run of a path that did not get to its first call."""
    return LoggedRun(stage=stage, raised_at=place_of_error(error), raised=_line(error))


def run_logged(side: Side, wanted: WantedCalls) -> LoggedRun:
    """Make the calls, and log them."""
    modules = ModuleCalls(_inside(side.model))
    caller = _Caller(side, OperatorLog(modules, __file__))
    start = Checkpoint(side.model) if side.restarts else None
    ended: Exception | None = None
    with modules(), restore_modes(), capture_output():
        try:
            _make_calls(caller, side, wanted, start)
        except Exception as error:
            ended = error
    log = caller.log
    if ended is None:
        return LoggedRun(log.events, log.requires_grad, first=modules.first, returned=caller.returned)
    place, text = place_of_error(ended), _line(ended)
    return LoggedRun(log.events, log.requires_grad, "run", place, text, caller.number, modules.first)


def _make_calls(caller: _Caller, side: Side, wanted: WantedCalls, start: Checkpoint | None) -> None:
    for number in range(wanted.ordinary):
        if start is not None and number == 1 and not start.restore():
            return
        named = caller.ordinary(number)
        if number == 0 and wanted.backward:
            caller.backward(named)
    if wanted.edited:
        edit(side.model, side.edits)
        caller(wanted.ordinary, side.examples.fresh())
    if wanted.deviation is not None:
        caller.deviating(wanted.ordinary, wanted.deviation)


class _Caller:
    """Makes calls, each with its log."""

    def __init__(self, side: Side, log: OperatorLog) -> None:
        self._side = side
        self.log = log
        self.number = 0
        """Of the last call."""
        self.returned: dict[int, CodePlace] = {}

    def ordinary(self, number: int) -> dict[str, torch.Tensor]:
        """Make one of the ordinary calls."""
        like = max(0, number - 1) if self._side.restarts else number
        return self(number, self._side.examples.fresh(like), like)

    def __call__(
        self, number: int, inputs: Inputs, seeded: int | None = None, deviation: Deviation | None = None
    ) -> dict[str, torch.Tensor]:
        """Make a call; return its tensors by name."""
        side, self.number = self._side, number
        self.log.begin(number, named_tensors(None, inputs, side.model))
        seed(number if seeded is None else seeded)
        with contextlib.ExitStack() as stack:
            stack.enter_context(restore_modes())
            if not side.compiles:  # torch.cond and similar operators would
                stack.enter_context(nothing_compiled())
            if deviation is not None:
                stack.enter_context(deviation.context())
            if not side.compiles:
                note = functools.partial(self.returned.__setitem__, number)
                stack.enter_context(noted_returns(_inside(side.model), note))
            stack.enter_context(self.log)
            outputs = side.run(*inputs.args, **inputs.kwargs)
        flatten(outputs)
        named = named_tensors(outputs, inputs, side.model)
        self.log.end(named)
        return named

    def backward(self, named: Mapping[str, torch.Tensor]) -> None:
        """Run the backward pass of a call."""
        with self.log:
            flows = gradient_tensors(named)
        self.log.end({f"{GRADIENT}{name}": flow for name, flow in flows.items() if flow is not None})

    def deviating(self, number: int, key: tuple[str, str]) -> None:
        """Make a deviating call."""
        side = self._side
        found = side.examples.deviations({key[0]}, side.salt, side.model)
        one = next(one for one in found if (one.deviation, one.description) == key)
        one.prepare(side.model)
        self(number, side.examples.with_deviation(one), 0, one)


def _inside(model: nn.Module) -> nn.Module:
    """Return the user's model, if a transform has wrapped it."""
    while type(model).__module__.startswith(_TRANSFORMS) and "module" in model._modules:
        model = model.get_submodule("module")
    return model


_TRANSFORMS = "exportdiff.runtime.paths.transforms."


def _line(error: Exception) -> str:
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__

"""What a finding says about where to look: the named values that differ, and the calls that show it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import singledispatch
from typing import TYPE_CHECKING

from exportdiff.core.first_difference import NOT_IN_A_CALL
from exportdiff.judging.checks.aliasing import (
    TogetherOnOneSide,
    WriteBarred,
    WriteDiffers,
    WriteRefused,
    WriteShows,
)
from exportdiff.judging.checks.gradients import BackwardRaised, GradientFlow, GradientLeaf
from exportdiff.judging.checks.guards.check import CallRefused
from exportdiff.judging.checks.guards.deviations import WrongAnswer
from exportdiff.judging.checks.inputs import InputLeaf
from exportdiff.judging.checks.outputs import (
    OnlyEagerRaised,
    OutputAttribute,
    OutputLeaf,
    OutputStructure,
    PathRaised,
)
from exportdiff.judging.checks.sharing import EditDiffers
from exportdiff.judging.checks.state import StateAdded, StateLeaf, StateMissing, UpdateLost
from exportdiff.judging.checks.structure.call_order import CallMissing, CallOrder
from exportdiff.judging.checks.structure.check import (
    ModuleCycle,
    ModulesMissing,
    ModulesUnknown,
    NeedlessVariant,
)
from exportdiff.judging.checks.structure.common import OfStructure
from exportdiff.judging.checks.structure.enumeration import OrderDiffers
from exportdiff.judging.checks.structure.translation import StepMoved
from exportdiff.runtime.observing.aliasing import INPUT, OUTPUT
from exportdiff.runtime.paths.run.logged import GRADIENT, WantedCalls

if TYPE_CHECKING:
    from exportdiff.core.finding import Evidence


@dataclass(frozen=True)
class Subject:
    """What to log, and where to begin."""

    wanted: WantedCalls = field(default_factory=WantedCalls)
    call: int = 0
    names: tuple[str, ...] = ()
    """The named values that differ at the end of the call; empty: the first difference of all counts."""
    aspect: str = "value"
    """What differs."""
    raises: bool = False
    """Whether one side raises."""
    module: str | None = None
    """The module, if the finding itself says which."""
    why_not: str = ""
    """Why there is nothing to look for."""


@singledispatch
def subject(evidence: Evidence) -> Subject:
    """Return what evidence says about where to look."""
    return Subject(why_not=NOT_IN_A_CALL)


def _in_call(evidence: Evidence, *names: str, aspect: str = "", edited: bool = False) -> Subject:
    call = evidence.call or 0
    wanted = WantedCalls(call, edited=True) if edited else WantedCalls(call + 1)
    return Subject(wanted, call, names, aspect or evidence.aspect or "value")


@subject.register
def _(evidence: OutputLeaf) -> Subject:
    return _in_call(evidence, f"{OUTPUT}{evidence.place}")


@subject.register(OutputStructure)
@subject.register(OutputAttribute)
def _(evidence: OutputStructure | OutputAttribute) -> Subject:
    return _in_call(evidence, OUTPUT)


@subject.register
def _(evidence: InputLeaf) -> Subject:
    return _in_call(evidence, f"{INPUT}{evidence.argument}")


@subject.register(StateLeaf)
@subject.register(UpdateLost)
def _(evidence: StateLeaf | UpdateLost) -> Subject:
    if evidence.call is None:
        return Subject(module=_owner(evidence.name))
    return _in_call(evidence, evidence.name)


@subject.register
def _(evidence: StateMissing) -> Subject:
    return Subject(module=_owner(evidence.name))


@subject.register(GradientLeaf)
@subject.register(GradientFlow)
def _(evidence: GradientLeaf | GradientFlow) -> Subject:
    return Subject(WantedCalls(backward=True), names=(f"{GRADIENT}{evidence.name}",))


@subject.register
def _(evidence: BackwardRaised) -> Subject:
    return Subject(WantedCalls(backward=True), raises=True)


@subject.register
def _(evidence: TogetherOnOneSide) -> Subject:
    return _in_call(evidence, *sorted(evidence.names), aspect="memory")


@subject.register(WriteRefused)
@subject.register(WriteShows)
@subject.register(WriteDiffers)
def _(evidence: WriteRefused | WriteShows | WriteDiffers) -> Subject:
    return _in_call(evidence, evidence.output, aspect="memory")


@subject.register
def _(evidence: WriteBarred) -> Subject:
    # The write is tried after the last call, but each call returns such a tensor.
    return Subject(names=(evidence.output,), aspect="memory")


@subject.register
def _(evidence: EditDiffers) -> Subject:
    return _in_call(evidence, f"{OUTPUT}{evidence.place}", edited=True)


@subject.register
def _(evidence: WrongAnswer) -> Subject:
    key = evidence.altered.deviation, evidence.altered.description
    return Subject(WantedCalls(evidence.call, deviation=key), evidence.call, (evidence.where,))


@subject.register(PathRaised)
@subject.register(OnlyEagerRaised)
@subject.register(CallRefused)
def _(evidence: PathRaised | OnlyEagerRaised | CallRefused) -> Subject:
    call = evidence.call or 0
    return Subject(WantedCalls(call + 1), call, raises=True)


@subject.register
def _(evidence: OfStructure) -> Subject:
    return Subject(aspect="structure")


@subject.register
def _(evidence: CallMissing) -> Subject:
    return Subject(module=evidence.module)


@subject.register
def _(evidence: StepMoved) -> Subject:
    return Subject(aspect="module")


@subject.register
def _(evidence: StateAdded) -> Subject:
    return Subject(module=_owner(evidence.names[0]))


@subject.register(CallOrder)
@subject.register(OrderDiffers)
def _(evidence: CallOrder | OrderDiffers) -> Subject:
    pairs = zip((*evidence.expected, None), (*evidence.seen, None), strict=False)
    first = next((ours or theirs for ours, theirs in pairs if ours != theirs), None)
    return Subject(module=None if first is None else first.rstrip("*"))


@subject.register(ModulesMissing)
@subject.register(ModulesUnknown)
def _(evidence: ModulesMissing | ModulesUnknown) -> Subject:
    return Subject(module=evidence.names[0])


@subject.register
def _(evidence: ModuleCycle) -> Subject:
    return Subject(module=evidence.name)


@subject.register
def _(evidence: NeedlessVariant) -> Subject:
    return Subject(module=evidence.names[0])


def _owner(name: str) -> str:
    """Return the name of the module that has a tensor."""
    return name.rpartition(".")[0]

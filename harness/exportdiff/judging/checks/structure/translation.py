"""Part of the structure check: the rebuilt module runs the graph that was exported, step by step."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from exportdiff.judging.checks.state import sort_of
from exportdiff.judging.checks.structure.common import OfStructure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from exportdiff.core.finding import Evidence
    from exportdiff.runtime.observing.graphs import Exported, Frames, Listing, Operand, Rebuilt, Step
    from exportdiff.runtime.observing.tensors import State


@dataclass(frozen=True)
class StepDiffers(OfStructure):
    """What runs is not what was exported."""

    what: tuple[str, ...]
    """First a key of ``_MEANING``; then what is missing or extra, or the sorts of the two operands."""
    shared: str | None
    """The module, if several of its calls share the graph that has the step."""
    step: int
    """The number of the first step that differs."""
    expected: str
    """The step that was exported, and its module."""
    seen: str
    """The step that runs, and its module."""

    stage = "lower"

    def words(self) -> tuple[str, ...]:
        """Return the sort of difference."""
        return ("steps", "shared-graph") if self.shared is not None else ("steps", *self.what)

    def lines(self) -> Iterator[str]:
        """Show both steps."""
        where = "" if self.shared is None else f", in a graph that several calls of {self.shared} share"
        yield f"what runs is not what was exported{where}: {_MEANING[self.what[0]]}"
        yield f"step {self.step}, exported: {self.expected}"
        yield f"step {self.step}, here: {self.seen}"


_MEANING = {
    "missing": "an operator is missing",
    "extra": "there is an operator too many",
    "order": "operators are in another order",
    "operands": "something else is read",
    "arguments": "an operator has other arguments",
}


@dataclass(frozen=True)
class StepMoved(OfStructure):
    """An operator runs in another module, or in another call of its module."""

    word: Literal["owner", "call"]
    """``owner``: another module; ``call``: another call of the same module."""
    step: int
    """The number of the step."""
    expected: str
    """The step that was exported, and its module."""
    seen: str
    """The step that runs, and its module."""

    stage = "lower"

    def words(self) -> tuple[str, ...]:
        """Return the word."""
        return ("steps", self.word)

    def lines(self) -> Iterator[str]:
        """Show both steps."""
        yield f"an operator runs in another {'module' if self.word == 'owner' else 'call of its module'}"
        yield f"step {self.step}, exported: {self.expected}"
        yield f"step {self.step}, here: {self.seen}"


def translation(program: Exported, rebuilt: Rebuilt, state: State | None) -> Iterator[Evidence]:
    """Compare the operators that run, and the calls that they run in, with those exported."""
    if program.listing is None or rebuilt.listing is None:
        return
    ours, theirs = program.listing, rebuilt.listing
    found = list(_differences(program, ours.without_idle(), rebuilt, theirs.without_idle(), state))
    # What does nothing in one call may do something in another one that shares the graph.
    if found and rebuilt.shared and not any(_differences(program, ours, rebuilt, theirs, state)):
        return
    yield from found


def _differences(
    program: Exported, ours: Listing, rebuilt: Rebuilt, theirs: Listing, state: State | None
) -> Iterator[Evidence]:
    same = {name: min(group) for group in program.same for name in group}
    names = _Names(same, {} if state is None else _sorts(state))
    ours, theirs = ours.direct(), theirs.direct()
    if program.written:
        own = ours.copies()[: -len(program.written)]
        ours, theirs = (listing.written_last(program.written, same, own) for listing in (ours, theirs))
    yield from _steps(ours, rebuilt, theirs, names, writing=bool(program.written))


class _Names(NamedTuple):
    """What the comparison needs to know about names of the state."""

    same: Mapping[str, str]
    """For a name of a tensor with several: one of them."""
    sorts: Mapping[str, str]
    """``parameter`` or ``buffer``; export keeps buffers that do not persist as constants."""

    def sort(self, operand: Operand) -> str:
        """Say what kind of thing an operand is."""
        if isinstance(operand, int):
            return "result"
        return "input" if operand.startswith("input ") else self.sorts.get(operand, "buffer")


def _sorts(state: State) -> dict[str, str]:
    return {name: sort_of(tensor) for name, tensor in state.tensors.items()}


def _steps(
    program: Listing, rebuilt: Rebuilt, listing: Listing, names: _Names, *, writing: bool
) -> Iterator[Evidence]:
    """Compare what runs with what was exported: the same operators on the same operands, in order.

    ``writing``: the program writes to its inputs or its state, which may take clones of what was there.
    """
    ours = program.live().settled().sized()
    theirs = listing.live().settled().sized(ours.sizes)
    found = list(_compared(ours, rebuilt, theirs, names))
    once = theirs.computed_once()
    others = [once, *(each.without_clones(ours) for each in (theirs, once) if writing)]
    if found and not all(any(_compared(ours, rebuilt, other, names)) for other in others):
        return
    yield from found


def _compared(ours: Listing, rebuilt: Rebuilt, theirs: Listing, names: _Names) -> Iterator[Evidence]:
    expected = [_known(step, names) for step in (*ours.steps, ours.returns)]
    seen = [_known(step, names) for step in (*theirs.steps, theirs.returns)]
    number = next((n for n, pair in enumerate(zip(expected, seen, strict=False)) if pair[0] != pair[1]), None)
    if number is None:
        yield from _owners(ours, theirs)
        return
    what = _what(expected, seen, names)
    step, other = (*ours.steps, ours.returns)[number], (*theirs.steps, theirs.returns)[number]
    frames = other.frames or ()
    alike = step.frames is not None and _names_of(_nested(step.frames)) == _names_of(frames)
    shared = [frame.module for frame in frames if alike and frame.call in rebuilt.shared]
    yield StepDiffers(
        what,
        shared[-1] if shared else None,
        number,
        f"{step} in {_place(step.frames)}",
        f"{other} in {_place(other.frames)}",
    )


_Known = tuple[str, str, tuple["Operand", ...]]


def _known(step: Step, names: _Names) -> _Known:
    operands = tuple(names.same.get(o, o) if isinstance(o, str) else o for o in step.operands)
    return step.operator, step.arguments, operands


def _what(expected: Sequence[_Known], seen: Sequence[_Known], names: _Names) -> tuple[str, ...]:
    """Say in stable words how two lists of steps differ."""
    ours, theirs = [step[0] for step in expected], [step[0] for step in seen]
    if missing := Counter(ours) - Counter(theirs):
        return ("missing", _family(missing))
    if extra := Counter(theirs) - Counter(ours):
        return ("extra", _family(extra))
    if ours != theirs:
        return ("order",)
    for (_, text, operands), (_, other, others) in zip(expected, seen, strict=True):
        if text != other:
            return ("arguments",)
        for operand, another in zip(operands, others, strict=True):
            if operand != another:
                return ("operands", names.sort(operand), names.sort(another))
    return ("order",)


def _family(operators: Iterable[str]) -> str:
    """Name an operator that holds graphs; which of the many others it is says nothing about the cause."""
    return next((name for name in sorted(operators) if name.startswith(_HOLDING)), "operator")


_HOLDING = ("wrap_", "cond", "while_loop", "map_impl", "scan", "associative_scan", "tag_activation")


def _owners(ours: Listing, theirs: Listing) -> Iterator[Evidence]:
    """Compare in which calls the steps run."""
    before: tuple[Frames, Frames] = ((), ())
    for number, (step, other) in enumerate(zip(ours.steps, theirs.steps, strict=True)):
        if step.frames is None or other.frames is None or _is_computed_again(step, other):
            continue
        now = (_nested(step.frames), other.frames)
        places = [_names_of(frames) for frames in now]
        kept = [_kept(was, frames) for was, frames in zip(before, now, strict=True)]
        if places[0] != places[1] or kept[0] != kept[1]:
            yield StepMoved(
                "owner" if places[0] != places[1] else "call",
                number,
                f"{step} in {_place(now[0])}{_begun(now[0], kept[0])}",
                f"{other} in {_place(now[1])}{_begun(now[1], kept[1])}",
            )
            return
        before = now


def _is_computed_again(step: Step, other: Step) -> bool:
    """Return whether unflatten has made a step anew, in the call that reads it.

    What a preserved call computes and does not return, other calls cannot get from it.
    """
    pure = not step.impure and not step.writes
    return pure and other.is_named_by_its_operator and not step.is_named_by_its_operator


def _nested(frames: Frames) -> Frames:
    """Leave out what follows a call of a module that is not below its caller."""
    above = ""
    for number, frame in enumerate(frames):
        if not frame.module.startswith(above):
            return frames[:number]
        above = f"{frame.module}."
    return frames


def _names_of(frames: Frames) -> list[str]:
    return [frame.module for frame in frames]


def _kept(before: Frames, now: Frames) -> int:
    """Count the calls that go on."""
    kept = 0
    for a, b in zip(before, now, strict=False):
        if a != b:
            break
        kept += 1
    return kept


def _place(frames: Frames | None) -> str:
    if frames is None:
        return "no module"
    return frames[-1].module if frames else "the root"


def _begun(frames: Frames, kept: int) -> str:
    return ", in a call that begins with it" if kept < len(frames) else ", in a call under way"

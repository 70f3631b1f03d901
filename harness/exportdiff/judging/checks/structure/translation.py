"""Part of the structure check: the rebuilt module runs the graph that was exported, step by step."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from exportdiff.judging.checks.state import sort_of
from exportdiff.judging.checks.structure.common import OfStructure
from exportdiff.runtime.paths.read.normal_forms import (
    computed_once,
    live,
    names_of_copies,
    with_direct_copies,
    with_in_place_results_replaced,
    with_sizes_inline,
    with_writes_last,
    without_added_clones,
    without_idle_steps,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from exportdiff.core.finding import Evidence
    from exportdiff.runtime.observing.graphs import Exported, Frames, Listing, Operand, Rebuilt, Step
    from exportdiff.runtime.observing.tensors import State


@dataclass(frozen=True)
class Occurrence:
    """One step, by its operator and its number among all steps of this operator, before any is left out."""

    operator: str
    number: int

    @property
    def holds_graphs(self) -> bool:
        """Whether it is a higher order operator, whose arguments may be graphs."""
        return self.operator.startswith(_HOLDING)


_NOWHERE = (Occurrence("", 0), Occurrence("", 0))


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
    places: tuple[Occurrence, Occurrence] = _NOWHERE
    """The step that was exported, and the one that runs; of an operator that is missing or extra, any one."""
    operand: int = 0
    """Which operand differs, if one does."""
    dead: bool = False
    """Whether an operator is missing or extra only because nothing reads the results of its other steps."""
    aliases: tuple[tuple[str, str], ...] = ()
    """Names of tensors in the state that have another name as well, with that name."""

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
    places: tuple[Occurrence, Occurrence] = _NOWHERE
    """The step that was exported, and the one that runs."""
    before: tuple[Occurrence, Occurrence] = _NOWHERE
    """The steps before them, which are in the same calls as far as both sides agree."""

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
    found = list(_differences(program, without_idle_steps(ours), rebuilt, without_idle_steps(theirs), state))
    # A step that does nothing in one call may do something in another call that shares the graph.
    if found and rebuilt.shared and not any(_differences(program, ours, rebuilt, theirs, state)):
        return
    yield from found


def _differences(
    program: Exported, ours: Listing, rebuilt: Rebuilt, theirs: Listing, state: State | None
) -> Iterator[Evidence]:
    same = {name: min(group) for group in program.same for name in group}
    sides = _Sides(same, {} if state is None else _sorts(state), (ours.steps, theirs.steps), rebuilt.shared)
    ours, theirs = with_direct_copies(ours), with_direct_copies(theirs)
    if program.written:
        own = names_of_copies(ours)[: -len(program.written)]
        ours, theirs = (with_writes_last(listing, program.written, same, own) for listing in (ours, theirs))
    yield from _steps(ours, theirs, sides, writing=bool(program.written))


class _Sides(NamedTuple):
    """What the comparison needs to know, apart from the steps that matter."""

    same: Mapping[str, str]
    """For a name of a tensor with several: one of them."""
    sorts: Mapping[str, str]
    """``parameter`` or ``buffer``; export keeps buffers that do not persist as constants."""
    all_steps: tuple[Sequence[Step], Sequence[Step]]
    """All steps that were exported, and all that run."""
    shared: frozenset[int]
    """Numbers of the calls that run the same graph as another call."""

    def sort(self, operand: Operand) -> str:
        """Return the kind of an operand: a result, an input, a parameter or a buffer."""
        if isinstance(operand, int):
            return "result"
        return "input" if operand.startswith("input ") else self.sorts.get(operand, "buffer")

    def numbers(self, operator: str) -> tuple[int, int]:
        """Count the steps of an operator on both sides."""
        ours, theirs = (sum(step.operator == operator for step in steps) for steps in self.all_steps)
        return ours, theirs

    def places(self, step: Step, other: Step) -> tuple[Occurrence, Occurrence]:
        """Find a step that was exported, and one that runs, among all steps."""
        ours, theirs = self.all_steps
        return _occurrence(step, ours), _occurrence(other, theirs)


def _occurrence(step: Step, steps: Iterable[Step]) -> Occurrence:
    alike = [(each.name, each.frames) for each in steps if each.operator == step.operator]
    place = (step.name, step.frames)
    return Occurrence(step.operator, alike.index(place) if place in alike else 0)


def _sorts(state: State) -> dict[str, str]:
    return {name: sort_of(tensor) for name, tensor in state.tensors.items()}


def _steps(ours: Listing, theirs: Listing, sides: _Sides, *, writing: bool) -> Iterator[Evidence]:
    """Compare what runs with what was exported: the same operators on the same operands, in order.

    ``writing``: the program writes to its inputs or its state, which may take clones of what was there.
    """
    ours, theirs = (with_in_place_results_replaced(live(each)) for each in (ours, theirs))
    ours = with_sizes_inline(ours)
    theirs = with_sizes_inline(theirs, ours.sizes)
    found = list(_compared(ours, theirs, sides))
    once = computed_once(theirs)
    others = [once, *(without_added_clones(each, ours) for each in (theirs, once) if writing)]
    if found and not all(any(_compared(ours, other, sides)) for other in others):
        return
    yield from found


def _compared(ours: Listing, theirs: Listing, sides: _Sides) -> Iterator[Evidence]:
    exported, running = (*ours.steps, ours.returns), (*theirs.steps, theirs.returns)
    expected, seen = ([_known(step, sides) for step in steps] for steps in (exported, running))
    number = next((n for n, pair in enumerate(zip(expected, seen, strict=False)) if pair[0] != pair[1]), None)
    if number is None:
        yield from _owners(ours, theirs, sides)
        return
    step, other = exported[number], running[number]
    places, dead = sides.places(step, other), False
    difference, operators, operand = _what(expected, seen, sides)
    if difference == ("order",):
        pairs = zip(exported, running, strict=False)
        places = next(sides.places(a, b) for a, b in pairs if a.operator != b.operator)
    elif operators:
        counts = sides.numbers(operators[0])
        dead = counts[0] <= counts[1] if difference[0] == "missing" else counts[0] >= counts[1]
        places = (Occurrence(operators[0], 0), Occurrence(operators[0], 0))
    frames = other.frames or ()
    alike = step.frames is not None and _names_of(_nested(step.frames)) == _names_of(frames)
    shared = [frame.module for frame in frames if alike and frame.call in sides.shared]
    yield StepDiffers(
        difference,
        shared[-1] if shared else None,
        number,
        f"{step} in {_place(step.frames)}",
        f"{other} in {_place(other.frames)}",
        places,
        operand,
        dead,
        tuple(sorted((name, one) for name, one in sides.same.items() if name != one)),
    )


_Known = tuple[str, str, tuple["Operand", ...]]


def _known(step: Step, sides: _Sides) -> _Known:
    operands = tuple(sides.same.get(o, o) if isinstance(o, str) else o for o in step.operands)
    return step.operator, step.arguments, operands


def _what(
    expected: Sequence[_Known], seen: Sequence[_Known], sides: _Sides
) -> tuple[tuple[str, ...], list[str], int]:
    """Describe in stable words how two lists of steps differ.

    Return with it the operators that are missing or extra, and the number of the operand that differs.
    """
    ours, theirs = [step[0] for step in expected], [step[0] for step in seen]
    for word, counts in (
        ("missing", Counter(ours) - Counter(theirs)),
        ("extra", Counter(theirs) - Counter(ours)),
    ):
        if counts:
            operators = sorted(counts, key=lambda name: (not name.startswith(_HOLDING), name))
            # Which of the many other operators it is says nothing about the cause.
            return (word, operators[0] if operators[0].startswith(_HOLDING) else "operator"), operators, 0
    if ours != theirs:
        return ("order",), [], 0
    for (_, text, operands), (_, other, others) in zip(expected, seen, strict=True):
        if text != other:
            return ("arguments",), [], 0
        for number, (a, b) in enumerate(zip(operands, others, strict=True)):
            if a != b:
                return ("operands", sides.sort(a), sides.sort(b)), [], number
    return ("order",), [], 0


_HOLDING = ("wrap_", "cond", "while_loop", "map_impl", "scan", "associative_scan", "tag_activation")
"""How the names of operators begin that hold graphs."""


def _owners(ours: Listing, theirs: Listing, sides: _Sides) -> Iterator[Evidence]:
    """Compare in which calls the steps run."""
    before: tuple[Frames, Frames] = ((), ())
    steps_before: tuple[Step, Step] | None = None
    for number, (step, other) in enumerate(zip(ours.steps, theirs.steps, strict=True)):
        if step.frames is None or other.frames is None or _is_computed_again(step, other):
            continue
        now = (_nested(step.frames), other.frames)
        modules = [_names_of(frames) for frames in now]
        kept = [_kept(was, frames) for was, frames in zip(before, now, strict=True)]
        if modules[0] != modules[1] or kept[0] != kept[1]:
            yield StepMoved(
                "owner" if modules[0] != modules[1] else "call",
                number,
                f"{step} in {_place(now[0])}{_begun(now[0], kept[0])}",
                f"{other} in {_place(now[1])}{_begun(now[1], kept[1])}",
                sides.places(step, other),
                sides.places(*steps_before) if steps_before else _NOWHERE,
            )
            return
        before, steps_before = now, (step, other)


def _is_computed_again(step: Step, other: Step) -> bool:
    """Return whether unflatten computes a step a second time, in the call that reads it.

    Other calls cannot read what a preserved call computes and does not return.
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
    """Count the calls that are under way in both."""
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

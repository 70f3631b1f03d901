"""Normal forms of listings: they leave out, or write in one way, what unflatten may change.

Each function returns a listing that does the same as the one that it gets, and states its law. It is
idempotent unless it says otherwise. tests/runtime/paths/test_normal_forms.py tests this on drawn listings.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from exportdiff.runtime.observing.graphs import Listing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from exportdiff.runtime.observing.graphs import Operand, Step

_CLONES = "aten.clone.default"
_COPIES = "aten.copy_.default"
_DETACHES = "aten.detach.default"
_READS_SIZE = "aten.sym_size.int"


# --- leaving out steps whose result is something else ---


def without_idle_steps(listing: Listing) -> Listing:
    """Let what reads the result of an idle step read its operand instead: it is the same tensor.

    Law: no step is idle.
    """
    return _replacing(listing, lambda step, number: step.operands[0] if step.idle else None)


def without_added_clones(listing: Listing, exported: Listing) -> Listing:
    """Leave out the clones that stand where ``exported`` has another operator, or clones something else.

    Code that writes to the state early must clone what is read or returned as it was. The clone has the same
    values; the check ``aliasing`` compares which results have one memory.

    Law: a listing loses nothing that ``exported`` has in the same place.
    """

    def cloned(step: Step, number: int) -> Operand | None:
        others = [other[:3] for other in exported.steps[number : number + 1]]
        return step.operands[0] if step.operator == _CLONES and step[:3] not in others else None

    return _replacing(listing, cloned)


def computed_once(listing: Listing) -> Listing:
    """Leave out what unflatten computes a second time in another call, if nothing was written in between.

    Other calls cannot read what a preserved call computes and does not return.

    Law: between two writes, no two steps are equal of which the second has its operator's name.
    """
    first: dict[tuple[object, ...], Operand] = {}

    def computed(step: Step, number: int) -> Operand | None:
        if step.writes or step.impure:
            first.clear()
            return None
        earlier = first.setdefault(step[:3], number)
        return earlier if earlier != number and step.is_named_by_its_operator else None

    return _replacing(listing, computed)


def _replacing(listing: Listing, stands_for: Callable[[Step, int], Operand | None]) -> Listing:
    """Leave out steps, and let what reads their results read something else.

    ``stands_for`` gets a step as it is after those before it were left out, and its number then; it returns
    what is read in place of its result, or None for a step that stays.
    """
    now: dict[Operand, Operand] = {}
    steps: list[Step] = []
    for number, each in enumerate(listing.steps):
        step = _renamed(each, now)
        other = stands_for(step, len(steps))
        now[number] = len(steps) if other is None else other
        if other is None:
            steps.append(step)
    return _rebuilt(listing, steps, _renamed(listing.returns, now), now)


# --- leaving out steps that nothing depends on ---


def live(listing: Listing) -> Listing:
    """Drop the steps that nothing depends on, and renumber the others.

    Law: it commutes with ``with_in_place_results_replaced``.
    """
    wanted = sorted(_wanted(listing))
    if len(wanted) == len(listing.steps):
        return listing
    number_of: dict[Operand, Operand] = {old: new for new, old in enumerate(wanted)}
    steps = [_renamed(listing.steps[old], number_of) for old in wanted]
    return _rebuilt(listing, steps, _renamed(listing.returns, number_of), number_of)


def _wanted(listing: Listing) -> set[int]:
    memory = memory_of(listing)
    wanted = {n for n, step in enumerate(listing.steps) if step.impure}
    # Inputs and state outlive the run: writes to them count.
    read = {memory[o] for step in listing.steps for o in step.operands if isinstance(o, str)}
    read.update(memory[o] for o in listing.returns.operands)
    wanted.update(o for o in listing.returns.operands if isinstance(o, int))
    before = -1
    while len(wanted) != before:
        before = len(wanted)
        for number in range(len(listing.steps) - 1, -1, -1):
            step = listing.steps[number]
            if number in wanted or any(memory[o] in read for o in step.writes):
                wanted.add(number)
                wanted.update(o for o in step.operands if isinstance(o, int))
                read.update(memory[o] for o in step.operands)
    return wanted


def memory_of(listing: Listing) -> dict[Operand, Operand]:
    """Return for each operand the representative of its group: operands that may share memory."""
    group: dict[Operand, Operand] = {}

    def root(operand: Operand) -> Operand:
        while (above := group.setdefault(operand, operand)) != operand:
            operand = above
        return operand

    for number, step in enumerate(listing.steps):
        for operand in (number, *step.operands):
            root(operand)
        for operand in step.shares:
            group[root(operand)] = root(number)
    for operand in listing.returns.operands:
        root(operand)
    return {operand: root(operand) for operand in list(group)}


# --- writes ---


def with_direct_copies(listing: Listing) -> Listing:
    """Let what copies into a detached tensor copy into the tensor itself, if nothing else reads it detached.

    A parameter that requires grad can be written back in no other way.

    Law: no copy_ writes to the result of a detach that only copies use.
    """
    users: dict[Operand, list[Step]] = {}
    for step in (*listing.steps, listing.returns):
        for operand in step.operands:
            users.setdefault(operand, []).append(step)
    behind: dict[Operand, Operand] = {
        number: step.operands[0]
        for number, step in enumerate(listing.steps)
        if step.operator == _DETACHES
        and all(
            user.operator == _COPIES and user.operands.index(number) == 0 for user in users.get(number, ())
        )
    }
    return replace(listing, steps=tuple(_renamed(step, behind) for step in listing.steps))


def names_of_copies(listing: Listing) -> tuple[str, ...]:
    """Return the names of the steps that copy into a tensor, in order."""
    return tuple(step.name for step in listing.steps if step.operator == _COPIES)


def with_writes_last(
    listing: Listing, written: Sequence[str], same: Mapping[str, str], own: Collection[str] = ()
) -> Listing:
    """Write to the inputs and the state of ``written`` at the end, as an exported program does.

    What is read after such a copy_ is what was copied, and of several to one place the last one counts.
    ``same`` has one name for each tensor that has several. ``own`` are the names of the copies that the
    program itself makes: into a place that was written to early, such a copy is a step like others. What else
    copies a tensor to itself, as it is after what was written early, does nothing and is left out.

    Law: the copies into ``written`` are the last steps, in the order of ``written``; it is idempotent where
    ``own`` is empty.
    """
    places = {same.get(name, name): number for number, name in enumerate(written)}
    now: dict[Operand, Operand] = {}
    number_of: dict[Operand, Operand] = {}
    copied: dict[Operand, Operand] = {}
    steps: list[Step] = []
    last: dict[int, Step] = {}
    early: set[str] = set()
    changed: dict[Operand, Operand] = {}  # for the result of an in-place operator, the tensor

    def current(operand: Operand) -> Operand:
        known = same.get(operand, operand) if isinstance(operand, str) else operand
        return now[known] if known in now else number_of.get(operand, operand)

    def tensors(step: Step) -> set[Operand]:
        return {changed.get(operand, operand) for operand in map(current, step.operands)}

    for number, step in enumerate(listing.steps):
        target = copied.get(step.operands[0], step.operands[0]) if step.operator == _COPIES else ""
        place = same.get(target, target) if isinstance(target, str) else ""
        if place not in places or (place in early and step.name in own):
            if step.operator == _COPIES and step.name not in own and len(tensors(step)) == 1:
                number_of[number] = current(step.operands[0])
                continue
            if step.in_place:
                (changed[len(steps)],) = tensors(step._replace(operands=step.writes))
            number_of[number] = len(steps)
            steps.append(_renamed(step, current))
            continue
        value = tuple(map(current, step.operands[1:]))
        write = step._replace(operands=(target, *value), writes=(target,), shares=(target,), frames=None)
        last[places[place]] = write
        copied[number] = target
        if step.name not in own:
            early.add(place)
        if value:
            now[place] = now[number] = value[0]
    steps += [last[number] for number in sorted(last)]
    back = tuple(copied.get(o, number_of.get(o, o)) for o in listing.returns.operands)
    return _rebuilt(listing, steps, listing.returns._replace(operands=back), number_of)


def with_in_place_results_replaced(listing: Listing) -> Listing:
    """Replace the result of an in-place operator by the operand: they are the same tensor.

    Law: nothing reads the result of an in-place operator.
    """
    changed: dict[Operand, Operand] = {}

    def settle(step: Step) -> Step:
        return step._replace(operands=tuple(changed.get(o, o) for o in step.operands))

    steps: list[Step] = []
    for number, step in enumerate(listing.steps):
        steps.append(settle(step))
        if step.in_place:
            changed[number] = changed.get(step.writes[0], step.writes[0])
    return replace(listing, steps=tuple(steps), returns=settle(listing.returns))


# --- sizes ---


def with_sizes_inline(listing: Listing, recorded: Mapping[Operand, tuple[str, ...]] | None = None) -> Listing:
    """Write what is computed from sizes where it is read, instead of as separate steps.

    Two readings of a size are the same unless an operator has changed the tensor's metadata in between.
    Readings from two tensors are the same if export recorded one expression for both sizes. Where ``listing``
    is not that of the exported graph, ``recorded`` are the ``sizes`` of the latter, in this form.

    Law: no step reads a size.
    """
    memory = memory_of(listing)
    reshaped: Counter[Operand] = Counter()
    sizes: dict[Operand, str] = {}
    number_of: dict[Operand, Operand] = {}
    steps: list[Step] = []

    def now(operand: Operand) -> Operand:
        return sizes.get(operand, number_of.get(operand, operand))

    def known(operand: Operand) -> tuple[str, ...]:
        return listing.sizes.get(operand, ()) if recorded is None else recorded.get(now(operand), ())

    for number, step in enumerate(listing.steps):
        computes = "." not in step.operator and all(o in sizes for o in step.operands)
        if step.operator == _READS_SIZE or (step.operands and computes):
            before = sum(reshaped[memory[o]] for o in step.operands if o not in sizes)
            shape = known(step.operands[0]) if step.dimension is not None else ()
            if shape and not before:
                sizes[number] = f"size {shape[step.dimension or 0]}"
            else:
                sizes[number] = f"{_renamed(step, now)}{f' after {before} changes' if before else ''}"
            continue
        number_of[number] = len(steps)
        steps.append(_renamed(step, now))
        if step.reshapes:
            reshaped.update({memory[o]: 1 for o in step.writes})
    return _rebuilt(listing, steps, _renamed(listing.returns, now), number_of)


# --- new numbers ---


def _renamed(step: Step, names: Mapping[Operand, Operand] | Callable[[Operand], Operand]) -> Step:
    """Return a step whose operands have other names; a mapping need not have those that keep theirs."""
    name = names if callable(names) else lambda operand: names.get(operand, operand)
    operands, writes, shares = (tuple(map(name, each)) for each in (step.operands, step.writes, step.shares))
    return step._replace(operands=operands, writes=writes, shares=shares)


def _rebuilt(
    listing: Listing, steps: Sequence[Step], returns: Step, numbers: Mapping[Operand, Operand]
) -> Listing:
    """Return a listing of other steps; ``numbers`` are the new numbers of those steps whose sizes stay."""
    sizes = {
        numbers.get(operand, operand): shape
        for operand, shape in listing.sizes.items()
        if isinstance(operand, str) or operand in numbers
    }
    return Listing(tuple(steps), returns, sizes)

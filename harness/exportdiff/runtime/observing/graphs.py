"""Modules, their calls and their graphs, as plain data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Visit(NamedTuple):
    """One call of a submodule in eager."""

    module: str
    """The module's first name."""
    within: int | None
    """Number of the enclosing visit; None if the model itself made the call."""
    computes: bool
    """Whether an output depends on an operator that ran in this visit itself, not in an inner one."""


@dataclass(frozen=True)
class Hierarchy:
    """The modules of the eager model, and which of them its first run called, in order."""

    first: Mapping[str, str]
    """All names of all modules, in order; for each the first name of that module."""
    inlined: frozenset[str] = frozenset()
    """First names of the modules that are traced like functions: ``fx.GraphModule``, compiled modules."""
    persistent: frozenset[str] = frozenset()
    """Names of the parameters and buffers that belong to the state dict."""
    visits: tuple[Visit, ...] = ()
    unregistered: frozenset[str] = frozenset()
    """All that one would write for modules that the model holds without registering them: ``blocks[0]``."""
    told: frozenset[str] = frozenset()
    """First names of the modules that were called while they, or modules below them, were in another mode
    than before, or while parametrizations were cached (``torch.nn.utils.parametrize.cached``).
    """
    passed_on: Mapping[str, str] = field(default_factory=dict)
    """Further names of modules, each with the first name: torch.compile returns a module that passes on the
    attributes of the one it was given.
    """

    @property
    def named(self) -> Mapping[str, str]:
        """All names by which code may call a module, each with the first name of that module."""
        return {**self.passed_on, **self.first}


class Frame(NamedTuple):
    """One unfinished call of a submodule: an entry of the call stack."""

    module: str
    """The name by which it was called, without the number of a call variant."""
    call: str | int
    """Differs between calls of the same module."""


Frames = tuple[Frame, ...]
"""The call stack, outermost call first, without the model itself."""

Operand = int | str
"""The number of the step that computes it, or the name of an input or of a piece of state."""


class Step(NamedTuple):
    """One operator of a graph."""

    operator: str
    arguments: str
    """As text, with ``%`` for each operand."""
    operands: tuple[Operand, ...]
    frames: Frames | None
    """None: export assigns some operators to no module."""
    impure: bool = False
    """Whether it matters even if nothing reads its result: it draws random numbers, or may raise."""
    writes: tuple[Operand, ...] = ()
    """The operands that it changes in place."""
    shares: tuple[Operand, ...] = ()
    """The operands that its result may be, or may be a view of."""
    inside: tuple[Frames, ...] = ()
    """For a region (``no_grad``, autocast): the frames of the operators in it, in order."""
    opaque: bool = False
    """Whether it holds graphs without being a region, so that the calls inside are unknown."""
    reshapes: bool = False
    """Whether what it changes in place is the metadata of its operands."""
    dimension: int | None = None
    """For a reading of a size: of which dimension of its operand."""
    name: str = ""
    """The name of its node: what unflatten moves to another graph keeps its name."""
    idle: bool = False
    """Whether it returns its first operand as it is, by the recorded metadata. A graph that several calls
    share has the metadata of one of them."""

    @property
    def in_place(self) -> bool:
        """Whether the result is the operand that it writes to."""
        # The result of set_ shares the memory of its source too, but it is the first operand.
        first = len(self.writes) == 1 and self.writes == self.shares[:1]
        return first and _IN_PLACE.search(self.operator) is not None

    @property
    def is_named_by_its_operator(self) -> bool:
        """Whether unflatten has made it anew: what it moves keeps its name, apart from a number.

        fx writes ``sum_dim_int_list`` for ``sum.dim_IntList``.
        """
        name = re.sub(r"(_\d+)+$", "", self.name)
        operator = self.operator.removeprefix("aten.").lower()
        return re.sub(r"\W|_", "", name) == re.sub(r"\W|_", "", operator)

    def __str__(self) -> str:
        """Write the operator and its arguments in one line, for people."""
        text = f"{self.operator}{filled(self.arguments, [_operand(o) for o in self.operands])}"
        text = "; ".join(text.splitlines())
        return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


_WIDTH = 160


def _operand(operand: Operand) -> str:
    return f"step {operand}" if isinstance(operand, int) else operand


def filled(arguments: str, operands: list[str]) -> str:
    """Put operands into a text of arguments."""
    parts = arguments.split("%")
    # A text constant may contain % as well: then the operands follow the text.
    if len(parts) != len(operands) + 1:
        return f"{arguments} with {', '.join(operands)}"
    return "".join(text + operand for text, operand in zip(parts, [*operands, ""], strict=True))


@dataclass(frozen=True)
class Listing:
    """A graph as a list of steps. The steps of a called submodule stand in the place of the call."""

    steps: tuple[Step, ...]
    returns: Step
    sizes: Mapping[Operand, tuple[str, ...]] = field(default_factory=dict)
    """The sizes that export recorded for operands of dynamic sizes, as expressions such as ``s77``."""

    def without_idle(self) -> Listing:
        """Let what reads the result of an idle step read its operand instead: it is the same tensor."""
        return self._replacing(lambda step, number: step.operands[0] if step.idle else None)

    def without_clones(self, exported: Listing) -> Listing:
        """Leave out the clones that are in the place of another operator, or clone, of what was exported.

        Who writes to the state early must clone what is read or returned as it was. The clone has the same
        values; which results have one memory, the check ``aliasing`` compares.
        """

        def cloned(step: Step, number: int) -> Operand | None:
            others = [other[:3] for other in exported.steps[number : number + 1]]
            return step.operands[0] if step.operator == _CLONES and step[:3] not in others else None

        return self._replacing(cloned)

    def computed_once(self) -> Listing:
        """Leave out what unflatten has computed anew in another call, though nothing was written since.

        What a preserved call computes and does not return, other calls cannot get from it.
        """
        first: dict[tuple[object, ...], Operand] = {}

        def computed(step: Step, number: int) -> Operand | None:
            if step.writes or step.impure:
                first.clear()
                return None
            earlier = first.setdefault(step[:3], number)
            return earlier if earlier != number and step.is_named_by_its_operator else None

        return self._replacing(computed)

    def _replacing(self, stands_for: Callable[[Step, int], Operand | None]) -> Listing:
        """Leave out steps, and let what reads their results read something else.

        ``stands_for`` gets a step as it is after those before it were left out, and its number then; it
        returns what is read in place of its result, or None for a step that stays.
        """
        now: dict[Operand, Operand] = {}
        steps: list[Step] = []
        for number, each in enumerate(self.steps):
            step = _renumbered(each, now)
            other = stands_for(step, len(steps))
            now[number] = len(steps) if other is None else other
            if other is None:
                steps.append(step)
        return Listing(tuple(steps), _renumbered(self.returns, now), _kept(self.sizes, now))

    def live(self) -> Listing:
        """Drop the steps that nothing depends on, and renumber the others."""
        wanted = self._wanted()
        if len(wanted) == len(self.steps):
            return self
        number_of: dict[Operand, int] = {old: new for new, old in enumerate(sorted(wanted))}
        steps = tuple(_renumbered(self.steps[old], number_of) for old in sorted(wanted))
        return Listing(steps, _renumbered(self.returns, number_of), _kept(self.sizes, number_of))

    def _wanted(self) -> set[int]:
        memory = self.memory()
        wanted = {n for n, step in enumerate(self.steps) if step.impure}
        # Inputs and state outlive the run: writes to them count.
        read = {memory[o] for step in self.steps for o in step.operands if isinstance(o, str)}
        read.update(memory[o] for o in self.returns.operands)
        wanted.update(o for o in self.returns.operands if isinstance(o, int))
        before = -1
        while len(wanted) != before:
            before = len(wanted)
            for number in range(len(self.steps) - 1, -1, -1):
                step = self.steps[number]
                if number in wanted or any(memory[o] in read for o in step.writes):
                    wanted.add(number)
                    wanted.update(o for o in step.operands if isinstance(o, int))
                    read.update(memory[o] for o in step.operands)
        return wanted

    def memory(self) -> dict[Operand, Operand]:
        """Return for each operand the representative of its group: operands that may share memory."""
        group: dict[Operand, Operand] = {}

        def root(operand: Operand) -> Operand:
            while (above := group.setdefault(operand, operand)) != operand:
                operand = above
            return operand

        for number, step in enumerate(self.steps):
            for operand in (number, *step.operands):
                root(operand)
            for operand in step.shares:
                group[root(operand)] = root(number)
        for operand in self.returns.operands:
            root(operand)
        return {operand: root(operand) for operand in list(group)}

    def direct(self) -> Listing:
        """Let what copies into a detached tensor, and does nothing else with it, copy into the tensor itself.

        A parameter that requires grad can be written back in no other way.
        """
        users: dict[Operand, list[Step]] = {}
        for step in (*self.steps, self.returns):
            for operand in step.operands:
                users.setdefault(operand, []).append(step)
        behind: dict[Operand, Operand] = {
            number: step.operands[0]
            for number, step in enumerate(self.steps)
            if step.operator == "aten.detach.default"
            and all(
                user.operator == "aten.copy_.default" and user.operands.index(number) == 0
                for user in users.get(number, ())
            )
        }
        if not behind:
            return self

        def straight(operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
            return tuple(behind.get(operand, operand) for operand in operands)

        steps = tuple(
            step._replace(
                operands=straight(step.operands), writes=straight(step.writes), shares=straight(step.shares)
            )
            for step in self.steps
        )
        return Listing(steps, self.returns, self.sizes)

    def copies(self) -> tuple[str, ...]:
        """Return the names of the steps that copy into a tensor, in order."""
        return tuple(step.name for step in self.steps if step.operator == _COPIES)

    def written_last(
        self, written: Sequence[str], same: Mapping[str, str], own: Collection[str] = ()
    ) -> Listing:
        """Write to the inputs and the state of ``written`` at the end, as an exported program does.

        What is read after such a copy_ is what was copied, and of several to one place the last one counts.
        ``same`` has one name for each tensor that has several. ``own`` are the names of the copies that the
        program itself makes: into a place that was written to early, such a copy is a step like others. What
        else copies a tensor to itself, as it is after what was written early, does nothing and is left out.
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

        def updated(step: Step) -> Step:
            operands, writes, shares = (
                tuple(map(current, each)) for each in (step.operands, step.writes, step.shares)
            )
            return step._replace(operands=operands, writes=writes, shares=shares)

        def tensors(step: Step) -> set[Operand]:
            return {changed.get(operand, operand) for operand in map(current, step.operands)}

        for number, step in enumerate(self.steps):
            target = copied.get(step.operands[0], step.operands[0]) if step.operator == _COPIES else ""
            place = same.get(target, target) if isinstance(target, str) else ""
            if place not in places or (place in early and step.name in own):
                if step.operator == _COPIES and step.name not in own and len(tensors(step)) == 1:
                    number_of[number] = current(step.operands[0])
                    continue
                if step.in_place:
                    (changed[len(steps)],) = tensors(step._replace(operands=step.writes))
                number_of[number] = len(steps)
                steps.append(updated(step))
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
        back = tuple(copied.get(o, number_of.get(o, o)) for o in self.returns.operands)
        return Listing(tuple(steps), self.returns._replace(operands=back), _kept(self.sizes, number_of))

    def settled(self) -> Listing:
        """Replace the result of an in-place operator by the operand: they are the same tensor."""
        changed: dict[Operand, Operand] = {}

        def settle(step: Step) -> Step:
            return step._replace(operands=tuple(changed.get(o, o) for o in step.operands))

        steps: list[Step] = []
        for number, step in enumerate(self.steps):
            steps.append(settle(step))
            if step.in_place:
                changed[number] = changed.get(step.writes[0], step.writes[0])
        return Listing(tuple(steps), settle(self.returns), self.sizes)

    def sized(self, recorded: Mapping[Operand, tuple[str, ...]] | None = None) -> Listing:
        """Write what is computed from sizes where it is read, instead of as steps of its own.

        Two readings of a size are the same unless an operator has changed the tensor's metadata in between.
        Readings from two tensors are the same if export recorded one expression for both sizes; ``recorded``
        are the ``sizes`` of the exported graph, sized, if this is not it.
        """
        memory = self.memory()
        reshaped: Counter[Operand] = Counter()
        sizes: dict[Operand, str] = {}
        number_of: dict[Operand, int] = {}
        steps: list[Step] = []

        def now(operand: Operand) -> Operand:
            return sizes.get(operand, number_of.get(operand, operand))

        def renamed(step: Step) -> Step:
            operands, writes, shares = (
                tuple(map(now, each)) for each in (step.operands, step.writes, step.shares)
            )
            return step._replace(operands=operands, writes=writes, shares=shares)

        def known(operand: Operand) -> tuple[str, ...]:
            return self.sizes.get(operand, ()) if recorded is None else recorded.get(now(operand), ())

        for number, step in enumerate(self.steps):
            computes = "." not in step.operator and all(o in sizes for o in step.operands)
            if step.operator == _READS_SIZE or (step.operands and computes):
                before = sum(reshaped[memory[o]] for o in step.operands if o not in sizes)
                shape = known(step.operands[0]) if step.dimension is not None else ()
                if shape and not before:
                    sizes[number] = f"size {shape[step.dimension or 0]}"
                else:
                    sizes[number] = f"{renamed(step)}{f' after {before} changes' if before else ''}"
                continue
            number_of[number] = len(steps)
            steps.append(renamed(step))
            if step.reshapes:
                reshaped.update({memory[o]: 1 for o in step.writes})
        return Listing(tuple(steps), renamed(self.returns), _kept(self.sizes, number_of))

    @property
    def text(self) -> str:
        """Equal for listings that do the same in the same order."""
        lines = (f"{s.operator} {s.arguments} {s.operands}" for s in (*self.steps, self.returns))
        return "\n".join(lines)


_CLONES = "aten.clone.default"
_COPIES = "aten.copy_.default"
_READS_SIZE = "aten.sym_size.int"
_IN_PLACE = re.compile(r"[a-z]_(\.\w+)?$|\.\w*out$")


def _renumbered(step: Step, number_of: Mapping[Operand, Operand]) -> Step:
    operands, writes, shares = (
        tuple(number_of[o] if isinstance(o, int) else o for o in operands)
        for operands in (step.operands, step.writes, step.shares)
    )
    return step._replace(operands=operands, writes=writes, shares=shares)


def _kept(
    sizes: Mapping[Operand, tuple[str, ...]], number_of: Mapping[Operand, Operand]
) -> dict[Operand, tuple[str, ...]]:
    """Return the sizes of what is an input, a piece of state or a step that has a new number."""
    return {number_of.get(o, o): shape for o, shape in sizes.items() if isinstance(o, str) or o in number_of}


class Spec(NamedTuple):
    """One input or output of the graph, as the signature describes it."""

    kind: str
    name: str
    target: str
    persistent: bool | None


@dataclass(frozen=True)
class Exported:
    """An exported program: its graph, its signature, its names."""

    listing: Listing | None
    """The graph; the frames are what export recorded."""
    inputs: tuple[Spec, ...]
    outputs: tuple[Spec, ...]
    placeholders: tuple[str, ...]
    returned: tuple[str, ...]
    call_graph: tuple[str, ...]
    state: frozenset[str]
    constants: frozenset[str]
    written: tuple[str, ...] = ()
    """The inputs and the pieces of state that it writes back at the end, in order.

    Unflatten may write to them earlier as well, where a preserved submodule or its caller reads them.
    """
    same: tuple[frozenset[str], ...] = ()
    """Groups of names in ``state`` and ``constants`` that torch takes for one tensor; of two and more."""
    broken: str = ""
    """Why there is no listing."""


@dataclass(frozen=True)
class Rebuilt:
    """What ``unflatten`` made of an exported program."""

    modules: frozenset[str] = frozenset()
    """Names of its modules, without the numbers of call variants."""
    order: tuple[str, ...] = ()
    """The same names, in the order in which they are enumerated."""
    cycle: str = ""
    """Name of a module that contains itself; the other fields are empty then."""
    variants: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """For each module that has several graphs: the name and the text of each."""
    calls: tuple[tuple[str, int | None], ...] = ()
    """The modules called, in order, without the numbers of call variants; as in ``Visit``."""
    shared: frozenset[int] = frozenset()
    """Numbers of the calls that run the same graph as another call."""
    listing: Listing | None = None
    """The frames are those of ``calls``."""
    broken: str = ""
    """Why there is no listing."""

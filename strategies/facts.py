"""What the feature tags are read off: a Program's parts, and what a run of it on types did."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from strategies.machine import Machine
from strategies.ops import OPS
from strategies.program import (
    Assign,
    Call,
    ClassDef,
    Do,
    Expr,
    Group,
    GroupInput,
    Loop,
    Op,
    Program,
    Slice,
    Step,
    TensorInput,
    news,
    nodes,
)
from strategies.trace import Called, Trace, Written
from strategies.values import Box, Instance, Ref, Value


class Facts:
    """A Program's parts, listed once for all detectors."""

    def __init__(self, program: Program) -> None:
        """List them, and run the Program on types. Raises Rejected for a Program that eager rejects."""
        self.program = program
        self.classes = program.classes
        self.root = program.root
        self.nodes = list(nodes(program.classes))
        self.kinds = {type(node) for node in self.nodes}
        self.ops = [node for node in self.nodes if isinstance(node, Op)]
        self.op_names = {op.name for op in self.ops}
        self.op_groups = {OPS[op.name].group for op in self.ops}
        self.calls = [node for node in self.nodes if isinstance(node, Call)]
        self.inputs = list(nodes(tuple(given for _, given in program.inputs)))
        self.trace = Trace()
        machine = Machine(program.classes, program.training)
        machine.trace = self.trace
        machine.run_program(program)
        self.events = self.trace.events
        self.called = [event for event in self.events if isinstance(event, Called)]
        self.writes = [event for event in self.events if isinstance(event, Written)]
        assert self.trace.model is not None
        self.places = list(places(self.trace.model))
        self.outputs = list(self._outputs())

    def having(self, kind: type, test: Callable[..., bool] = lambda node: True) -> bool:
        """Whether the code has a node of a type that passes a test."""
        return kind in self.kinds and any(isinstance(n, kind) and test(n) for n in self.nodes)

    def _outputs(self) -> Iterator[tuple[Value, str]]:
        """The leaves that the model returns, with what else each is."""
        for given, result in self.trace.results[:1]:
            objects = {id(leaf): "input" for leaf in leaves(given) if isinstance(leaf, Ref)}
            storages = {leaf.storage: "input" for leaf in leaves(given) if isinstance(leaf, Ref)}
            for place in self.places:
                for value in place.module.attrs.values():
                    if isinstance(value, Ref):
                        objects.setdefault(id(value), value.storage.kind)
                        storages.setdefault(value.storage, value.storage.kind)
            for leaf in leaves([result]):
                role = "fresh"
                if isinstance(leaf, Ref):
                    role = objects.get(id(leaf), "")
                    role = role or (
                        "view of " + storages[leaf.storage] if leaf.storage in storages else "fresh"
                    )
                yield leaf, role


@dataclass(frozen=True, slots=True)
class Place:
    """One way to a module: its parent, its name there, how deep."""

    module: Instance
    parent: Instance | None
    step: Step
    depth: int


def places(
    root: Instance, parent: Instance | None = None, step: Step = "", depth: int = 0
) -> Iterator[Place]:
    """Every way to every module below one; containers do not count as a level."""
    yield Place(root, parent, step, depth)
    for name, value in root.attrs.items():
        if isinstance(value, Instance):
            yield from places(value, root, name, depth if isinstance(value.kind, str) else depth + 1)


def leaves(values: list[Value]) -> Iterator[Value]:
    """The leaves of nested containers."""
    for value in values:
        if isinstance(value, Box):
            yield from leaves(list(value.items.values()))
        else:
            yield value


def depth(facts: Facts) -> int:
    """Levels of module classes."""
    levels: dict[str, int] = {}
    for cls in facts.classes:
        below = [levels[name] for name in (cls.guest, *(new.name for new in news(cls))) if name in levels]
        levels[cls.name] = 1 + max(below, default=0)
    return levels[facts.root.name]


def parents(facts: Facts) -> list[list[Place]]:
    """The places of each module that has several."""
    found: dict[int, list[Place]] = defaultdict(list)
    for place in facts.places:
        if not isinstance(place.module.kind, str):
            found[id(place.module)].append(place)
    return [group for group in found.values() if len(group) > 1]


def repeated(facts: Facts, differing: bool, deepest: int = 0) -> bool:
    """Whether a module is called twice (with other Python arguments, if ``differing``), that deep down."""
    seen: dict[int, list[tuple[object, ...]]] = defaultdict(list)
    for call in facts.called[: _first_call(facts)]:
        if call.depth > deepest:
            seen[call.callee].append(call.flags)
    return any(len(set(flags)) > 1 if differing else len(flags) > 1 for flags in seen.values())


def _first_call(facts: Facts) -> int:
    """The number of calls that the first call of the model makes."""
    roots = [n for n, call in enumerate(facts.called) if call.depth == 1]
    return roots[1] if len(roots) > 1 else len(facts.called)


def callers(facts: Facts) -> dict[int, set[int]]:
    """The modules that call each module."""
    found: dict[int, set[int]] = defaultdict(set)
    for call in facts.called:
        found[call.callee].add(call.caller)
    return found


def around_call(facts: Facts, before: bool) -> bool:
    """Whether a module writes in place before, or after, it calls another."""
    wanted: tuple[type, type] = (Written, Called) if before else (Called, Written)
    for first, second in zip(facts.events, facts.events[1:], strict=False):
        if isinstance(first, wanted[0]) and isinstance(second, wanted[1]):
            return True
    return False


def tensor_inputs(facts: Facts) -> list[TensorInput]:
    """Every example tensor, those in containers included."""
    return [given for given in facts.inputs if isinstance(given, TensorInput)]


def records(facts: Facts) -> list[Group | GroupInput]:
    """The namedtuples and dataclasses that are made."""
    found = (*facts.nodes, *facts.inputs)
    return [n for n in found if isinstance(n, Group | GroupInput) and n.kind in ("named", "data")]


def dropped_calls(cls: ClassDef) -> bool:
    """Whether a class drops the result of a call."""
    return any(isinstance(n, Do) and isinstance(n.value, Call) for n in nodes(cls.bodies))


def sliced(facts: Facts) -> bool:
    """Whether part of a container is iterated or called."""
    paths = [node.container for node in facts.nodes if isinstance(node, Loop)]
    paths += [call.callee for call in facts.calls]
    return any(isinstance(step, Slice) for path in paths for step in path)


def bound_results(facts: Facts) -> bool:
    """Whether the result of an in-place op has a name of its own."""
    return any(
        isinstance(n, Assign) and isinstance(n.value, Op) and bool(OPS[n.value.name].mutates)
        for n in facts.nodes
    )


def chained(op: Expr) -> bool:
    """Whether an in-place op works on the result of another op."""
    return isinstance(op, Op) and bool(OPS[op.name].mutates) and isinstance(op.operands[0], Op)

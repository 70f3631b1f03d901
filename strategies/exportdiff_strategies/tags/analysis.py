"""The input of detectors of tags: the parts of a Program, and a record of a run of it on types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from exportdiff_strategies import program as ir
from exportdiff_strategies.machine import Machine
from exportdiff_strategies.ops import OPS
from exportdiff_strategies.trace import CallEvent, Trace, WriteEvent
from exportdiff_strategies.values import Instance, TensorValue, Value, leaves, tensors_in


class Analysis:
    """The parts of a Program, listed once for all detectors, and a record of a run.

    Detectors call it ``p``.
    """

    def __init__(self, program: ir.Program) -> None:
        """List the parts, and run the Program on types. Raises Rejected for a Program that eager rejects."""
        self.program = program
        self.classes = program.classes
        self.root = program.root
        self.nodes = list(ir.nodes(program.classes))
        self.kinds = {type(node) for node in self.nodes}
        self.ops = [node for node in self.nodes if isinstance(node, ir.Op)]
        self.op_names = {op.name for op in self.ops}
        self.op_groups = {OPS[op.name].group for op in self.ops}
        self.calls = [node for node in self.nodes if isinstance(node, ir.CallModule)]
        self.inputs = list(ir.nodes(tuple(given for _, given in program.inputs)))
        self.trace = Trace()
        machine = Machine(program.classes, program.training)
        machine.trace = self.trace
        machine.run_program(program)
        self.events = self.trace.events
        self.called = [event for event in self.events if isinstance(event, CallEvent)]
        self.writes = [event for event in self.events if isinstance(event, WriteEvent)]
        assert self.trace.model is not None
        self.occurrences = list(occurrences(self.trace.model))
        self.outputs = list(self._outputs())

    def has(self, kind: type, test: Callable[..., object] = lambda node: True) -> bool:
        """Whether the code has a node of a type that passes a test."""
        return kind in self.kinds and any(isinstance(n, kind) and test(n) for n in self.nodes)

    def _outputs(self) -> Iterator[tuple[Value, str]]:
        """The leaves of the outputs of the first call, each with its role: input, buffer, view of input..."""
        for given, result in self.trace.results[:1]:
            objects = {id(tensor): "input" for tensor in tensors_in(given)}
            storages = {tensor.storage: "input" for tensor in tensors_in(given)}
            for each in self.occurrences:
                for value in each.module.attrs.values():
                    if isinstance(value, TensorValue):
                        objects.setdefault(id(value), value.storage.kind)
                        storages.setdefault(value.storage, value.storage.kind)
            for leaf in leaves([result]):
                role = "fresh"
                if isinstance(leaf, TensorValue):
                    role = objects.get(id(leaf), "")
                    role = role or (
                        "view of " + storages[leaf.storage] if leaf.storage in storages else "fresh"
                    )
                yield leaf, role


@dataclass(frozen=True, slots=True)
class Route:
    """One way to reach a module: its parent, its name there, and its depth."""

    module: Instance
    parent: Instance | None
    step: ir.Step
    depth: int


def occurrences(
    root: Instance, parent: Instance | None = None, step: ir.Step = "", depth: int = 0
) -> Iterator[Route]:
    """Every way to reach every module below ``root``; containers do not count as a level."""
    yield Route(root, parent, step, depth)
    for name, value in root.attrs.items():
        if isinstance(value, Instance):
            yield from occurrences(value, root, name, depth if isinstance(value.kind, str) else depth + 1)

"""The context in which statements are drawn: the scenarios of a method, and the values in reach.

A scenario is one combination of argument values. A body is drawn under several scenarios at once (one
CallFrame each), so that every statement is valid whichever way the branches around it go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

from exportdiff_strategies import program as ir
from exportdiff_strategies.drawing.modules import walk
from exportdiff_strategies.machine import Machine
from exportdiff_strategies.ops import Rejected
from exportdiff_strategies.swarm import Chooser
from exportdiff_strategies.values import CallFrame, CollectionValue, TensorValue, Value

OPERANDS = 6
"""How many of the tensors in scope are considered as operands, the newest first."""


S = TypeVar("S", bound=ir.Stmt)

Maker = Callable[["Scope"], ir.Stmt | None]
"""Draws one statement."""


def tried(maker: Maker) -> Maker:
    """Return a maker that executes the drawn statement, and drops it if a scenario rejects it."""
    return lambda scope: scope.accepted(maker(scope))


@dataclass
class Scope:
    """The context of the next statement: the active scenarios and the method's arguments."""

    choose: Chooser
    machine: Machine
    args: tuple[ir.Arg, ...]
    frames: list[CallFrame]
    depth: int = 0
    fresh: list[int] = field(default_factory=lambda: [0])
    called: dict[tuple[ir.AttributePath, str], ir.Expr] = field(default_factory=dict)
    """(path of the callee, argument) -> the value that was passed last.

    Calls with other values are interesting.
    """
    written_state: list[ir.Expr] = field(default_factory=list)
    """Attributes of called children that these calls have changed."""
    read_by_operators: set[ir.AttributePath] = field(default_factory=set)
    """Attributes that a control-flow operator has read."""
    methods: tuple[str, ...] = ()
    """The methods of ``self`` that may be called."""
    wanted: list[ir.Expr] = field(default_factory=list)
    """What the model should return."""
    pending: list[Maker] = field(default_factory=list)
    """Makers of statements that should follow the latest statement, as in real code."""
    operator_args: tuple[str, ...] = ()
    """The arguments, if this is the local function of a control-flow operator, which may change nothing."""

    operator_writes: bool = False
    """Whether this operator allows its functions to write to what existed before."""

    def inner(
        self, frames: list[CallFrame], *, operator_args: tuple[str, ...] = (), operator_writes: bool = False
    ) -> Scope:
        """A scope for a nested suite with these frames."""
        return replace(
            self,
            frames=frames,
            depth=self.depth + 1,
            operator_args=operator_args or self.operator_args,
            operator_writes=operator_writes or self.operator_writes,
        )

    def owns(self, name: str) -> bool:
        """Whether a name may be bound again: in a local function, only its arguments may."""
        return not self.operator_args or name in self.operator_args

    def try_out(self, stmt: ir.Stmt) -> bool:
        """Execute a statement in every scenario; if one rejects the statement, in none, and return False."""
        frames = self.copies()
        try:
            for frame in frames:
                self.machine.run((stmt,), frame)
        except Rejected:
            return False
        # In place, because an enclosing scope may hold the same list.
        self.frames[:] = frames
        return True

    def accepted(self, stmt: S | None) -> S | None:
        """Execute a drawn statement as ``try_out`` does; return the statement, or None if it is rejected."""
        return stmt if stmt is not None and self.try_out(stmt) else None

    def copies(self) -> list[CallFrame]:
        """Copies of the frames, for drawing statements that may be dropped."""
        return [frame.copy() for frame in self.frames]

    def _named(self, kind: type) -> list[str]:
        first, *rest = self.frames
        return [
            name
            for name in reversed(first.names)
            if isinstance(first.names[name], kind)
            and all(isinstance(frame.names.get(name), kind) for frame in rest)
        ]

    def variables(self) -> list[ir.Var]:
        """Variables that are tensors in every scenario, the newest first."""
        return [ir.Var(name) for name in self._named(TensorValue)]

    def boxes(self, kind: str = "") -> list[ir.Var]:
        """Variables that are containers (of a kind) in every scenario."""
        return [
            ir.Var(name)
            for name in self._named(CollectionValue)
            if not kind or all(_kind(frame.names[name]) == kind for frame in self.frames)
        ]

    def callables(self) -> list[ir.Var]:
        """Arguments that can be called."""
        return [ir.Var(arg.name) for arg in self.args if arg.kind == "function"]

    def items(self) -> list[ir.Item]:
        """Tensors in containers that are variables."""
        found = []
        for var in self.boxes():
            boxes = [frame.names[var.name] for frame in self.frames]
            first = boxes[0]
            for key in first.items if isinstance(first, CollectionValue) else ():
                if all(
                    isinstance(b, CollectionValue) and isinstance(b.items.get(key), TensorValue)
                    for b in boxes
                ):
                    dotted = isinstance(first, CollectionValue) and first.kind in ("named", "data", "result")
                    found.append(ir.Item(var, key, dotted))
        return found

    def attributes(self) -> list[ir.Attr]:
        """Attributes of ``self`` that are tensors and, if the switch is on, of its children."""
        return [ir.Attr(path) for path, value in self.walk_state() if isinstance(value, TensorValue)]

    def numbers(self) -> list[ir.Attr]:
        """Attributes that are Python ints."""
        return [ir.Attr(path) for path, value in self.walk_state() if type(value) is int]

    def rates(self) -> list[ir.Attr]:
        """Attributes that are Python floats."""
        return [ir.Attr(path) for path, value in self.walk_state() if type(value) is float]

    def walk_state(self) -> Iterator[tuple[ir.AttributePath, Value]]:
        """Attributes of ``self`` and, if the switch is on, of its children."""
        return walk(self.frames[0].owner, 2 if self.choose.on("state.read_child") else 1)

    def tensors(self) -> list[ir.Expr]:
        """The tensors considered as operands, simplest first."""
        variables: list[ir.Expr] = [*self.variables()]
        return [*variables[:OPERANDS], *self.items()[:OPERANDS], *self.attributes()[:OPERANDS]]

    def recent(self) -> ir.Expr | None:
        """Mostly the newest tensor: code with results that are used finds more bugs than dead code."""
        tensors = self.tensors()
        return self.choose.mostly_first(tensors) if tensors else None

    def near(self) -> list[ir.Expr]:
        """The tensor of ``recent``, as a list; empty if there is none."""
        recent = self.recent()
        return [] if recent is None else [recent]

    def value(self, expr: ir.Expr, frame: CallFrame) -> TensorValue | None:
        """The tensor that an expression is in one scenario, or None. Uses no fuel."""
        left = frame.fuel[0]
        try:
            value = self.machine.evaluate(expr, frame)
        except Rejected:
            return None
        finally:
            frame.fuel[0] = left
        return value if isinstance(value, TensorValue) else None

    def values(self, expr: ir.Expr) -> list[TensorValue] | None:
        """The tensors that an expression is in all scenarios; None if it is something else in one of them."""
        found = [self.value(expr, frame) for frame in self.frames]
        known = [value for value in found if value is not None]
        return known if len(known) == len(found) else None

    def holds(self, cond: ir.Cond, frame: CallFrame) -> bool:
        """The truth of a condition in one scenario. Raises Rejected if it cannot be decided. Uses no fuel."""
        left = frame.fuel[0]
        try:
            return self.machine.holds(cond, frame)
        finally:
            frame.fuel[0] = left

    def name(self) -> str:
        """An unused local name."""
        self.fresh[0] += 1
        return f"h{self.fresh[0]}"

    def flags(self, *kinds: str) -> list[ir.Var]:
        """The method's own arguments of some kinds."""
        return [ir.Var(arg.name) for arg in self.args if arg.kind in kinds]


def _kind(value: Value) -> str:
    return value.kind if isinstance(value, CollectionValue) else ""

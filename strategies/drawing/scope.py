"""What statements are drawn in: the scenarios of a method, and the values that are in reach.

A body is drawn under several *scenarios* at once (one Frame for each combination of argument values that is
considered), so that every statement is valid whichever way the Python branches around it go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from strategies.drawing.modules import walk
from strategies.machine import Machine
from strategies.ops import Rejected
from strategies.program import Arg, Attr, Cond, Expr, Item, Path, Stmt, Var
from strategies.swarm import Chooser
from strategies.values import Box, Frame, Ref, Value

OPERANDS = 6
"""How many of the tensors in scope are considered as operands, the most recent first."""


Maker = Callable[["Scope"], Stmt | None]
"""What draws one statement."""


@dataclass
class Scope:
    """What the statements drawn next can see: the active scenarios and the method's own arguments."""

    choose: Chooser
    machine: Machine
    args: tuple[Arg, ...]
    frames: list[Frame]
    depth: int = 0
    fresh: list[int] = field(default_factory=lambda: [0])
    called: dict[tuple[Path, str], Expr] = field(default_factory=dict)
    """What was passed last, by callee and argument: calls with other flags are what is interesting."""
    written_state: list[Expr] = field(default_factory=list)
    """What the children that were called have written to, of their own."""
    read_by_operators: set[Path] = field(default_factory=set)
    """What a control-flow operator has read of the module."""
    methods: tuple[str, ...] = ()
    """The methods of ``self`` that may be called."""
    pending: list[Maker] = field(default_factory=list)
    """What belongs behind the latest statement, in real code: one of these mostly comes next."""
    operator_args: tuple[str, ...] = ()
    """The arguments of the local function of a control-flow operator: in there nothing may be changed."""

    def inner(self, frames: list[Frame], *, operator_args: tuple[str, ...] = ()) -> Scope:
        """A scope for a nested suite, which works on these frames."""
        return replace(
            self, frames=frames, depth=self.depth + 1, operator_args=operator_args or self.operator_args
        )

    def owns(self, name: str) -> bool:
        """Whether a name may be bound new_name: in a local function, only what is local to it."""
        return not self.operator_args or name in self.operator_args

    def try_out(self, stmt: Stmt) -> bool:
        """Execute a statement in every scenario, or in none; False where one rejects it."""
        frames = [frame.copy() for frame in self.frames]
        try:
            for frame in frames:
                self.machine.run((stmt,), frame)
        except Rejected:
            return False
        # In place: an enclosing scope may hold the same list.
        self.frames[:] = frames
        return True

    def copies(self) -> list[Frame]:
        """The frames once more, for drawing what may not come to pass."""
        return [frame.copy() for frame in self.frames]

    def _named(self, kind: type) -> list[str]:
        first, *rest = self.frames
        return [
            name
            for name in reversed(first.names)
            if isinstance(first.names[name], kind)
            and all(isinstance(frame.names.get(name), kind) for frame in rest)
        ]

    def variables(self) -> list[Var]:
        """Variables that are tensors in every scenario, the most recent first."""
        return [Var(name) for name in self._named(Ref)]

    def boxes(self, kind: str = "") -> list[Var]:
        """Variables that are containers (of a kind) in every scenario."""
        return [
            Var(name)
            for name in self._named(Box)
            if not kind or all(_kind(frame.names[name]) == kind for frame in self.frames)
        ]

    def callables(self) -> list[Var]:
        """Variables that can be called in every scenario."""
        return [Var(arg.name) for arg in self.args if arg.kind == "function"]

    def items(self) -> list[Item]:
        """Tensors in the containers that variables hold."""
        found = []
        for var in self.boxes():
            boxes = [frame.names[var.name] for frame in self.frames]
            first = boxes[0]
            for key in first.items if isinstance(first, Box) else ():
                if all(isinstance(b, Box) and isinstance(b.items.get(key), Ref) for b in boxes):
                    dotted = isinstance(first, Box) and first.kind in ("named", "data")
                    found.append(Item(var, key, dotted))
        return found

    def attributes(self) -> list[Attr]:
        """Tensors that hang on self, and on its children where the swarm allows it."""
        return [Attr(path) for path, value in self.walk_state() if isinstance(value, Ref)]

    def numbers(self) -> list[Attr]:
        """Python ints that hang on self."""
        return [Attr(path) for path, value in self.walk_state() if type(value) is int]

    def rates(self) -> list[Attr]:
        """Python floats that hang on self."""
        return [Attr(path) for path, value in self.walk_state() if type(value) is float]

    def walk_state(self) -> Iterator[tuple[Path, Value]]:
        """What hangs on self and, where the swarm allows it, on its children."""
        return walk(self.frames[0].owner, 2 if self.choose.on("state.read_child") else 1)

    def tensors(self) -> list[Expr]:
        """The tensors considered as operands, simplest first."""
        variables: list[Expr] = [*self.variables()]
        return [*variables[:OPERANDS], *self.items()[:OPERANDS], *self.attributes()[:OPERANDS]]

    def recent(self) -> Expr | None:
        """Mostly just the newest tensor: code whose results are used finds more than dead code."""
        tensors = self.tensors()
        return self.choose.mostly_first(tensors) if tensors else None

    def value(self, expr: Expr, frame: Frame) -> Ref | None:
        """The tensor that an operand is in one scenario."""
        left = frame.fuel[0]
        try:
            value = self.machine.evaluate(expr, frame)
        except Rejected:
            return None
        finally:
            frame.fuel[0] = left
        return value if isinstance(value, Ref) else None

    def holds(self, cond: Cond, frame: Frame) -> bool:
        """The truth of a condition in one scenario; raises Rejected where it has none."""
        left = frame.fuel[0]
        try:
            return self.machine.holds(cond, frame)
        finally:
            frame.fuel[0] = left

    def name(self) -> str:
        """A local name that is not in use."""
        self.fresh[0] += 1
        return f"h{self.fresh[0]}"

    def flags(self, *kinds: str) -> list[Var]:
        """The method's own arguments of some kinds, to pass down or to ask about."""
        return [Var(arg.name) for arg in self.args if arg.kind in kinds]


def _kind(value: Value) -> str:
    return value.kind if isinstance(value, Box) else ""

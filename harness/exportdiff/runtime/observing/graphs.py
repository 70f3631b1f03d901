"""Modules, their calls and their graphs, as plain data."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
    """First names of the modules that are traced like functions: graphs, their checks, compiled modules."""
    persistent: frozenset[str] = frozenset()
    """Names of the parameters and buffers that belong to the state dict."""
    visits: tuple[Visit, ...] = ()
    unregistered: frozenset[str] = frozenset()
    """Expressions for the modules that the model holds without registering them, such as ``blocks[0]``."""
    called_in_other_mode: frozenset[str] = frozenset()
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


class ModuleFrame(NamedTuple):
    """One unfinished call of a submodule: an entry of the call stack."""

    module: str
    """The name by which it was called, without the number of a call variant."""
    call: str | int
    """Differs between calls of the same module."""


Frames = tuple[ModuleFrame, ...]
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
        """Whether unflatten has created it: a step that is only moved keeps its name, except for a number.

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

    @property
    def text(self) -> str:
        """Equal for listings that do the same in the same order."""
        lines = (f"{s.operator} {s.arguments} {s.operands}" for s in (*self.steps, self.returns))
        return "\n".join(lines)


_IN_PLACE = re.compile(r"[a-z]_(\.\w+)?$|\.\w*out$")


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

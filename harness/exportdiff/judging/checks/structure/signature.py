"""Part of the structure check: the names in an exported program agree with each other, and with eager."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.judging.checks.state import sort_of
from exportdiff.judging.checks.structure.common import OfStructure, listed, two_lists

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.core.finding import Evidence
    from exportdiff.runtime.observing.graphs import Exported, Hierarchy
    from exportdiff.runtime.observing.tensors import State


@dataclass(frozen=True)
class SignatureMismatch(OfStructure):
    """The graph has other inputs or outputs than its signature says."""

    side: str
    """``inputs`` or ``outputs``."""
    graph: tuple[str, ...]
    signature: tuple[str, ...]

    stage = "export"

    def words(self) -> tuple[str, ...]:
        """Return the side."""
        return ("signature", self.side)

    def lines(self) -> Iterator[str]:
        """Show both."""
        yield f"the {self.side} of the graph are not those of its signature"
        yield f"graph: {listed(self.graph)}; signature: {listed(self.signature)}"


@dataclass(frozen=True)
class TableNames(OfStructure):
    """A table of the program has other names than eager."""

    table: str
    """``module_call_graph`` or ``state_dict``."""
    expected: tuple[str, ...]
    seen: tuple[str, ...]

    stage = "export"

    def words(self) -> tuple[str, ...]:
        """Return the table."""
        return ("names", self.table)

    def lines(self) -> Iterator[str]:
        """Show both lists."""
        yield f"{self.table} has other names than eager"
        yield from two_lists(self.expected, self.seen)


@dataclass(frozen=True)
class SpecKind(OfStructure):
    """The signature says that a tensor is of another kind than in eager."""

    target: str
    kind_of_spec: str
    """``parameter``, ``buffer`` or ``constant_tensor``."""
    expected: str
    """Eager's kind, with whether it is in the state dict."""
    seen: str
    """The signature's kind, with whether it is in the state dict."""

    stage = "export"

    def words(self) -> tuple[str, ...]:
        """Return the signature's kind."""
        return ("signature", "kind", self.kind_of_spec)

    def lines(self) -> Iterator[str]:
        """Show both kinds."""
        yield f"the signature calls {self.target} a {self.seen}, in eager it is a {self.expected}"


@dataclass(frozen=True)
class SpecTarget(OfStructure):
    """The signature names a tensor that the program does not hold."""

    target: str
    kind_of_spec: str
    """``parameter``, ``buffer`` or ``constant_tensor``."""
    seen: str
    """The signature's kind, with whether it is in the state dict."""

    stage = "export"

    def words(self) -> tuple[str, ...]:
        """Return the signature's kind."""
        return ("signature", "target", self.kind_of_spec)

    def lines(self) -> Iterator[str]:
        """Name the tensor."""
        yield f"the signature has {self.target}, a {self.seen}, and the program holds none of that name"


def signature(program: Exported) -> Iterator[Evidence]:
    """Compare the inputs and outputs of the graph with what the signature says."""
    for side, specs, actual in (
        ("inputs", program.inputs, program.placeholders),
        ("outputs", program.outputs, program.returned),
    ):
        named = [spec.name for spec in specs]
        # An output that is no tensor has a name in the signature, and none in the graph.
        if len(named) != len(actual) or any(a and a != b for a, b in zip(actual, named, strict=True)):
            yield SignatureMismatch(side, tuple(actual), tuple(named))


def names(hierarchy: Hierarchy, state: State, program: Exported) -> Iterator[Evidence]:
    """Compare the names in the program's tables with eager's, and with each other."""
    for table, expected, seen in (
        ("module_call_graph", list(hierarchy.first), [n for n in program.call_graph if "@" not in n]),
        ("state_dict", sorted(hierarchy.persistent), sorted(program.state)),
    ):
        if expected != seen:
            yield TableNames(table, tuple(expected), tuple(seen))
    for spec in program.inputs:
        if spec.kind not in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
            continue
        expected_kind = _kind(hierarchy, state, spec.target)
        kind = f"{spec.kind.lower()}{', not in the state dict' if spec.persistent is False else ''}"
        kept = spec.kind == "PARAMETER" or (spec.kind == "BUFFER" and spec.persistent)
        stored = program.state if kept else program.constants
        if expected_kind is not None and expected_kind != kind:
            yield SpecKind(spec.target, spec.kind.lower(), expected_kind, kind)
        elif spec.target not in stored:
            yield SpecTarget(spec.target, spec.kind.lower(), kind)


def _kind(hierarchy: Hierarchy, state: State, name: str) -> str | None:
    if name not in state.tensors:
        return None
    kind = sort_of(state.tensors[name])
    return kind if name in hierarchy.persistent else f"{kind}, not in the state dict"

"""Of the structure check: what an exported program says of names agrees with itself, and with eager."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.checks.state import sort_of
from harness.checks.structure.wording import different, listed, two_lists

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.checks.registry import Difference
    from harness.observe.graphs import Exported, Hierarchy
    from harness.observe.tensors import State


def signature(program: Exported) -> Iterator[Difference]:
    """Compare the inputs and outputs of the graph with what the signature says of them."""
    for side, specs, actual in (
        ("inputs", program.inputs, program.placeholders),
        ("outputs", program.outputs, program.returned),
    ):
        told = [spec.name for spec in specs]
        # An output that is no tensor has a name in the signature, and none in the graph.
        if len(told) != len(actual) or any(a and a != b for a, b in zip(actual, told, strict=True)):
            yield different(
                "export",
                ("signature", side),
                f"the {side} of the graph are not those of its signature",
                f"graph: {listed(actual)}; signature: {listed(told)}",
            )


def names(hierarchy: Hierarchy, state: State, program: Exported) -> Iterator[Difference]:
    """Compare the names in the program's tables with eager's, and with each other."""
    for what, expected, seen in (
        ("module_call_graph", list(hierarchy.first), [n for n in program.call_graph if "@" not in n]),
        ("state_dict", sorted(hierarchy.persistent), sorted(program.state)),
    ):
        if expected != seen:
            yield different(
                "export", ("names", what), f"{what} has other names than eager", *two_lists(expected, seen)
            )
    for spec in program.inputs:
        if spec.kind not in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
            continue
        expected_kind = _kind(hierarchy, state, spec.target)
        kind = f"{spec.kind.lower()}{', not in the state dict' if spec.persistent is False else ''}"
        kept = spec.kind == "PARAMETER" or (spec.kind == "BUFFER" and spec.persistent)
        stored = program.state if kept else program.constants
        if expected_kind not in (kind, None):
            yield different(
                "export",
                ("signature", "kind", spec.kind.lower()),
                f"the signature calls {spec.target} a {kind}, in eager it is a {expected_kind}",
            )
        elif spec.target not in stored:
            yield different(
                "export",
                ("signature", "target", spec.kind.lower()),
                f"the signature has {spec.target}, a {kind}, and the program holds none of that name",
            )


def _kind(hierarchy: Hierarchy, state: State, name: str) -> str | None:
    if name not in state.tensors:
        return None
    kind = sort_of(state.tensors[name])
    return kind if name in hierarchy.persistent else f"{kind}, not in the state dict"

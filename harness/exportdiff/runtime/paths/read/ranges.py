"""The ranges of sizes that an exported program declares for its inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy
import torch
from torch.export.graph_signature import InputKind

from exportdiff.runtime.observing.tensors import TensorSnapshot
from exportdiff.runtime.paths.read.graph_inputs import in_graph_order

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch.export import ExportedProgram

    from exportdiff.runtime.observing.tensors import Tree


def declares(program: ExportedProgram, handed_in: Tree) -> bool:
    """Whether the program declares that it takes inputs of these sizes.

    ``handed_in`` is the pytree ``(args, kwargs)``. Each symbol of a size must have one value, inside its
    range; a size that is computed from symbols must be what they give.
    """
    sizes = _sizes(program, handed_in)
    if sizes is None:
        return False
    values = _values(sizes)
    return all(_fits(declared, size, values) for declared, size in sizes) and all(
        range_.lower <= values[symbol] <= range_.upper
        for symbol, range_ in program.range_constraints.items()
        if symbol in values
    )


def breaks_a_guard(program: ExportedProgram, handed_in: Tree) -> bool:
    """Whether these sizes are among those that export has excluded, for example in a branch on a size."""
    sizes = _sizes(program, handed_in) or ()
    values = _values(sizes)
    environments = (size.node.shape_env for size, _ in sizes if isinstance(size, torch.SymInt))
    guards = next((each.guards for each in environments if each is not None), ())
    return any(guard.expr.subs(values) == sympy.false for guard in guards)


def _sizes(program: ExportedProgram, handed_in: Tree) -> list[tuple[object, object]] | None:
    """Return what is recorded for each size, and what is handed in; None if a tensor has another rank."""
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    specs = [spec for spec in program.graph_signature.input_specs if spec.kind is InputKind.USER_INPUT]
    sizes: list[tuple[object, object]] = []
    for spec, leaf in zip(specs, in_graph_order(program, handed_in), strict=False):
        recorded = nodes[spec.arg.name].meta.get("val")
        if isinstance(recorded, torch.Tensor) and isinstance(leaf.value, TensorSnapshot):
            if recorded.dim() != len(leaf.value.shape):
                return None
            sizes += [*zip(recorded.shape, leaf.value.shape, strict=True)]
    return sizes


def _values(sizes: Iterable[tuple[object, object]]) -> dict[object, object]:
    """Return the value of each symbol that is a size."""
    values: dict[object, object] = {}
    for declared, size in sizes:
        if isinstance(declared, torch.SymInt) and declared.node.expr.is_symbol:
            values.setdefault(declared.node.expr, size)
    return values


def _fits(declared: object, size: object, values: dict[object, object]) -> bool:
    if not isinstance(declared, torch.SymInt):
        return bool(declared == size)
    return bool(declared.node.expr.subs(values) == size)

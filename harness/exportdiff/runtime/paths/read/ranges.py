"""The ranges of sizes that an exported program declares for its inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.export.graph_signature import InputKind

from exportdiff.runtime.observing.tensors import TensorSnapshot
from exportdiff.runtime.paths.read.graph_inputs import in_graph_order

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from exportdiff.runtime.observing.tensors import Tree


def declares(program: ExportedProgram, handed_in: Tree) -> bool:
    """Whether the program declares that it takes inputs of these sizes.

    ``handed_in`` is the pytree ``(args, kwargs)``. Each symbol of a size must have one value, inside its
    range; a size that is computed from symbols must be what they give.
    """
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    specs = [spec for spec in program.graph_signature.input_specs if spec.kind is InputKind.USER_INPUT]
    sizes: list[tuple[object, object]] = []  # what is recorded, and what is handed in
    for spec, leaf in zip(specs, in_graph_order(program, handed_in), strict=False):
        recorded = nodes[spec.arg.name].meta.get("val")
        if isinstance(recorded, torch.Tensor) and isinstance(leaf.value, TensorSnapshot):
            if recorded.dim() != len(leaf.value.shape):
                return False
            sizes += [*zip(recorded.shape, leaf.value.shape, strict=True)]
    values: dict[object, object] = {}
    for declared, size in sizes:
        if isinstance(declared, torch.SymInt) and declared.node.expr.is_symbol:
            values.setdefault(declared.node.expr, size)
    return all(_fits(declared, size, values) for declared, size in sizes) and all(
        range_.lower <= values[symbol] <= range_.upper
        for symbol, range_ in program.range_constraints.items()
        if symbol in values
    )


def _fits(declared: object, size: object, values: dict[object, object]) -> bool:
    if not isinstance(declared, torch.SymInt):
        return bool(declared == size)
    return bool(declared.node.expr.subs(values) == size)

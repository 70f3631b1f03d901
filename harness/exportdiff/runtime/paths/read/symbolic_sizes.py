"""The sizes that an exported program records for its inputs: numbers, symbols, and what follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.export.graph_signature import InputKind

from exportdiff.runtime.observing.sizes import SizeRange
from exportdiff.runtime.paths.read.graph_inputs import in_graph_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch.export import ExportedProgram

    from exportdiff.runtime.observing.arguments import Inputs


def recorded_sizes(program: ExportedProgram, inputs: Inputs) -> list[dict[int, Any]]:
    """Return the sizes that the program records, by the number of the input and the dimension."""
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    specs = [spec for spec in program.graph_signature.input_specs if spec.kind is InputKind.USER_INPUT]
    leaves = in_graph_order(program, inputs.snapshot())
    values = {
        leaf.where: nodes[spec.arg.name].meta.get("val") for spec, leaf in zip(specs, leaves, strict=False)
    }
    tensors = (values.get(place) for place in inputs.places)
    return [dict(enumerate(each.shape)) if isinstance(each, torch.Tensor) else {} for each in tensors]


def symbol(size: object) -> Any:
    """Return the symbol of a size; None: it is fixed, or computed from symbols."""
    if isinstance(size, torch.SymInt) and size.node.expr.is_symbol:
        return size.node.expr
    return None


def size_range(size: object, program: ExportedProgram) -> SizeRange:
    """Return the range of a size in the program."""
    range_ = program.range_constraints.get(symbol(size))
    if range_ is None:
        return SizeRange()
    # Infinity of sympy is no Integer, and says that it is an integer.
    ends = (range_.lower, range_.upper)
    return SizeRange(*(int(end) if getattr(end, "is_Integer", False) else None for end in ends))


def sizes_with(
    recorded: Sequence[Mapping[int, Any]], values: Mapping[Any, int]
) -> dict[tuple[int, int], int] | None:
    """Return the sizes that depend on these symbols, by the number of the input and the dimension.

    None: for these values, one of them is no whole number.
    """
    sizes: dict[tuple[int, int], int] = {}
    for leaf, dims in enumerate(recorded):
        for dim, each in dims.items():
            expression = each.node.expr if isinstance(each, torch.SymInt) else None
            if expression is not None and not expression.free_symbols.isdisjoint(values):
                value = expression.subs(values)
                if not value.is_Integer:
                    return None
                sizes[leaf, dim] = int(value)
    return sizes

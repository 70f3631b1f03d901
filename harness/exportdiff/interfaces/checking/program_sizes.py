"""Other sizes to call a saved program with, if the user's file has no probes: the program declares them."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from exportdiff.core.case import seed
from exportdiff.runtime.inputs.copies import build
from exportdiff.runtime.paths.read.declared_sizes import declared_dimensions
from exportdiff.runtime.paths.read.symbolic_sizes import recorded_sizes, size_range, sizes_with, symbol
from exportdiff.runtime.paths.run.sizes import resized

if TYPE_CHECKING:
    from collections.abc import Collection

    from torch.export import ExportedProgram

    from exportdiff.core.case import Case
    from exportdiff.runtime.observing.arguments import Inputs


def with_sizes(case: Case, program: ExportedProgram) -> Case:
    """Return the case with a probe in which each dynamic size of the program is another one.

    If the user declares dynamic shapes, only the sizes that these declare. If not, other paths export the
    sizes that are dynamic in the program.
    """
    if case.probes is not None:
        return case
    model, examples = build(case, "cpu")
    inputs = examples.fresh()
    spec = case.shapes()
    recorded = recorded_sizes(program, inputs)
    if spec is not None:
        declared = {(each.leaf, each.dim) for each in declared_dimensions(model, inputs, spec)}
        recorded = [
            {dim: size for dim, size in dims.items() if (leaf, dim) in declared}
            for leaf, dims in enumerate(recorded)
        ]
    sizes = _other_sizes(recorded, inputs, program)
    if not sizes:
        return case
    given = resized(inputs, sizes)
    probe = copy.deepcopy((given.args, given.kwargs))
    if not _accepts(model, given):
        return case
    case = replace(case, probes=lambda: [copy.deepcopy(probe)], own_probes=False)
    if spec is None:
        made = _spec(case, {(leaf, dim) for leaf, dim in sizes})
        case = replace(case, dynamic_shapes=lambda: copy.deepcopy(made))
    return case


def _other_sizes(
    recorded: list[dict[int, Any]], inputs: Inputs, program: ExportedProgram
) -> dict[tuple[int, int], int]:
    """Return a size that is not the example's for each dynamic dimension; empty: there is none."""
    values: dict[Any, int] = {}
    for leaf, dims in enumerate(recorded):
        for dim, size in dims.items():
            known = symbol(size)
            if known is None or known in values:
                continue
            example = inputs.leaves[leaf].shape[dim]
            further = range(example + 1 + len(values), example, -1)  # not all by the same number
            smaller = range(example - 1, 1, -1)
            allowed = size_range(size, program)
            found = next((each for each in (*further, *smaller) if each in allowed), None)
            if found is not None:
                values[known] = found
    return sizes_with(recorded, values) or {}


def _accepts(model: torch.nn.Module, inputs: Inputs) -> bool:
    """Whether eager takes inputs."""
    seed(0)
    try:
        model(*inputs.args, **inputs.kwargs)
    except Exception:
        return False
    return True


def _spec(case: Case, dims: Collection[tuple[int, int]]) -> object:
    """Return a spec of dynamic shapes that leaves these dimensions to export."""
    model, args, kwargs, *_ = case.build()
    leaves = torch.utils._pytree.tree_leaves((args, kwargs))
    shapes: Any = torch.export.ShapesCollection()  # type: ignore[no-untyped-call]  # torch leaves it bare
    for number, leaf in enumerate(leaves):
        if own := [dim for of, dim in dims if of == number]:
            shapes[leaf] = dict.fromkeys(own, torch.export.Dim.AUTO)
    return shapes.dynamic_shapes(model, args, kwargs)

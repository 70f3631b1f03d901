"""Swapping by the program: children of the graph become calls of their eager originals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.core.lazy import torch
from exportdiff.runtime.paths.transforms.table import transform

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import nn
    from torch.export import ExportedProgram


# The result checks no inputs (torch/export/_swap.py: 'gm.validate_inputs = False').
@transform(
    "module",
    "nonstrict+preserve:module",
    wants_program=True,
    wants_model=True,
    runner="module",
    after="preserve",
    not_promised=("hierarchy", "edits", "deviations", "predictions"),
    cost=30,
)
def swapped(module: nn.Module, program: ExportedProgram, model: nn.Module) -> nn.Module:
    """Children that are called once and share nothing can be swapped for their originals in the program."""
    from torch.export._swap import _swap_modules

    def parts(modules: Sequence[nn.Module]) -> set[int]:
        found = {id(each) for each in modules}
        for each in modules:
            for held in (each._parameters, each._buffers, vars(each)):
                tensors = (value for value in held.values() if isinstance(value, torch.Tensor))
                found.update(
                    t.untyped_storage()._cdata if t.layout is torch.strided else id(t) for t in tensors
                )
        return found

    calls = [entry.fqn for entry in program.module_call_graph if entry.signature is not None]
    stacks = [node.meta.get("nn_module_stack") or {} for node in program.graph.nodes]
    paths = [[path for path, _ in stack.values()] for stack in stacks]
    chosen: dict[str, nn.Module] = {}
    for name, child in model.named_children():
        inside = list(child.modules())
        below = model.named_modules(remove_duplicate=False)
        outside = [each for path, each in below if path.split(".")[0] != name]
        names = [other for other, each in model.named_modules(remove_duplicate=False) if each is child]
        once = names == [name] and not any(call.startswith(f"{name}@") for call in calls)
        # Nothing calls what is inside without it.
        once = once and all(
            name in path for path in paths if any(each.startswith(f"{name}.") for each in path)
        )
        # A graph module has names of its own: corpora/open/module_fails_on_child_named_class.py.
        once = once and not hasattr(torch.fx.GraphModule, name)
        if once and name in calls and parts(inside).isdisjoint(parts(outside)):
            chosen[name] = child
    return _swap_modules(program, chosen)

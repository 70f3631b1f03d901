"""Transforms of graphs: what passes do that people write themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exportdiff.core.lazy import torch
from exportdiff.runtime.paths.transforms.table import transform

if TYPE_CHECKING:
    from torch import nn


@transform("module", "nonstrict:module", "nonstrict:unflatten", cost=20)
def rewritten(module: nn.Module) -> nn.Module:
    """A pass that replaces each operator of each graph by an equal one, and recompiles, changes nothing."""
    part: Any
    for part in module.modules():
        if not isinstance(graph := getattr(part, "graph", None), torch.fx.Graph):
            continue
        for node in list(graph.nodes):
            if node.op == "call_function":
                with graph.inserting_before(node):
                    equal = graph.node_copy(node, lambda used: used)
                node.replace_all_uses_with(equal)
                graph.erase_node(node)
        graph.lint()
        if isinstance(part, torch.fx.GraphModule):
            part.recompile()
        else:
            part.finalize()  # of an unflattened module
    return module

"""Which module export has recorded in a node."""

from __future__ import annotations

import operator

from torch import fx
from torch._export.passes._node_metadata_hook import _node_metadata_hook

from exportdiff.runtime.observing.code_places import module_stack, node_place


def test_a_module_that_only_torch_names_is_none() -> None:
    """The operators of guards on sizes get it, and the model has no such module."""
    graph = fx.Graph()
    size = graph.placeholder("size")
    size.meta["val"] = 2
    node = graph.call_function(operator.add, (size, 2))
    _node_metadata_hook(node)
    assert node.meta["nn_module_stack"] and not module_stack(node)
    assert node_place(node).module is None
    node.meta["nn_module_stack"] = {"key": ("L['self'].layers.0@1", "torch.nn.Linear")}
    assert (node_place(node).module, node_place(node).module_call) == ("layers.0", 2)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten merges two calls of other graphs, unnoticed as long as both give the same"
# path = "nonstrict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "steps", "shared-graph"]]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, _check_graph_equivalence"
# ///
"""Export recorded `abs` for one call and `relu` for the other; the unflattened module runs `abs` for both.

The input of the two is never negative, so that no value tells. Whoever reads or changes the graph of `outer`
takes it for that of both calls. The cause is that of unflatten_merges_calls_of_other_variants.
"""

import sys
import warnings

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode


class Inner(nn.Module):
    def forward(self, x, flag):
        return x.abs() if flag else x.relu()


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x, flag):
        return self.inner(x, flag)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.outer = Outer()

    def forward(self, x):
        x = x * x
        return self.outer(x, True), self.outer(x, False)


def make():
    return Model(), (torch.ones(1),)


ran = []


class Record(TorchDispatchMode):
    """Notes the operators that are run."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        ran.append(func)
        return func(*args, **(kwargs or {}))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    ep = torch.export.export(model, args, strict=False)
    unflattened = torch.export.unflatten(ep)
    with Record():
        unflattened(*args)
    exported = [n.target for n in ep.graph.nodes].count(torch.ops.aten.relu.default)
    bug = exported != ran.count(torch.ops.aten.relu.default)
    print(f"{'BUG' if bug else 'ok'}: exported {exported} relu, unflatten runs {[str(op) for op in ran]}")
    sys.exit(bug)

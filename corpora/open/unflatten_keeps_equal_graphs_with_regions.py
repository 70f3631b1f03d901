# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten keeps a graph for each call of a module that has a no_grad region"
# path = "nonstrict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "variants", "needless"]]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, _check_graph_equivalence: graphs are compared by their names"
# ///
"""`child` is called twice, in the same way; `unflatten(ep).child` is run for the first of the two calls only.

Calls whose graphs are equal are meant to be merged, and are so without the region. The body of a region is a
graph that is read with get_attr, under a name of its own for each call (`submod_1`, `submod_3`), and
_check_graph_equivalence compares the names, so that there is a `child@1` as well. Bodies of torch.cond, map
and torch.autocast do the same. What the module computes is right; who swaps `child`, or hooks it, misses the
second call.
"""

import sys
import warnings

import torch
from torch import nn


class Child(nn.Module):
    def forward(self, x):
        with torch.no_grad():
            return x * 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(self.child(x))


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    calls = {"eager": 0, "unflatten": 0}
    for name, module in (
        ("eager", model),
        ("unflatten", torch.export.unflatten(torch.export.export(model, args))),
    ):
        module.child.register_forward_hook(lambda *_, name=name: calls.update({name: calls[name] + 1}))
        module(*args)
    bug = calls["eager"] != calls["unflatten"]
    print(f"{'BUG' if bug else 'ok'}: calls of child: {calls}")
    sys.exit(bug)

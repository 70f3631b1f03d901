# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "strict export records the shape that an input has after its .data is assigned"
# path = "strict:module@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "recorded"]]
# affected = "2.13.0"
# at-fault = "torch/_dynamo/variables/builtin.py, call_setattr: .data becomes set_ on an input"
# ///
"""`x.data = ...` with another shape: the exported program refuses the input that it was exported with.

Dynamo refuses x.set_(...) on an input ("Getting an inplace view on a graph input is not supported"), but
writes that very call into the graph for an assignment to x.data. The placeholder takes its shape from the
mutated fake tensor: the hazard of issue 93610. With a shape that is equal, nothing is wrong.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("other", torch.zeros(3))

    def forward(self, x):
        x.data = self.other
        return x + 1


def make():
    return Model(), (torch.ones(1, 3),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    ep = torch.export.export(model, args, strict=True)
    nodes = {node.name: node for node in ep.graph.nodes}
    seen = tuple(nodes[ep.graph_signature.user_inputs[0]].meta["val"].shape)
    bug = seen != (1, 3)
    print(f"{'BUG' if bug else 'ok'}: the input had shape (1, 3), the exported program records {seen}")
    sys.exit(bug)

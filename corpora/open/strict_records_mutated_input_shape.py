# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "strict export records the shape that an input has after squeeze_"
# path = "strict:module@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "recorded"]]
# affected = "2.13.0"
# at-fault = "torch/_dynamo: in-place view of an input through the result of an in-place op is not noticed"
# ///
"""The exported program expects the input as the model left it, not as it was handed in.

Dynamo refuses `x.squeeze_(0)` on an input, but not through the result of another in-place op, which is
the same tensor. The placeholder then carries the shape of the mutated fake tensor: the hazard of issue
93610. The program refuses the very input that it was exported with.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x.relu_().squeeze_(0) + 1


def make():
    return Model(), (torch.ones(1, 2),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    ep = torch.export.export(model, args, strict=True)
    nodes = {node.name: node for node in ep.graph.nodes}
    seen = tuple(nodes[ep.graph_signature.user_inputs[0]].meta["val"].shape)
    bug = seen != (1, 2)
    print(f"{'BUG' if bug else 'ok'}: the input had shape (1, 2), the exported program records {seen}")
    sys.exit(bug)

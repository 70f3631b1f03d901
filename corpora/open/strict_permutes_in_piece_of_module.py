# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten of a strict export permutes a tensor of another rank after a no_grad region"
# path = "strict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError", "number of dimensions in the tensor input does"]]
# affected = "2.13.0"
# at-fault = "torch/_dynamo/output_graph.py, OutputGraph.create_node, which records no nn_module_stack"
# ///
"""`permute` is to get what the no_grad region gives; the unflattened module gives it the first row of `x`.

The region is filed under the root, so that `child` falls into two pieces, of which the second replaces the
first. It takes the tuple that the region returns, and its getitem makes one row of the `x` that is passed
to the first. The cause is that of strict_moves_no_grad_region_to_root.
"""

import sys
import warnings

import torch
from torch import nn


class Child(nn.Module):
    def forward(self, x):
        x = x * 3
        with torch.no_grad():
            x = x + 1
        return x.permute(1, 0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x)


def make():
    return Model(), (torch.ones(1, 1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    expected = model(*args)
    try:
        seen = torch.export.unflatten(torch.export.export(model, args, strict=True))(*args)
    except RuntimeError as error:
        seen = str(error).splitlines()[0]
    bug = not (isinstance(seen, torch.Tensor) and torch.equal(expected, seen))
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {seen}")
    sys.exit(bug)

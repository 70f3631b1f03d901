# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "pipeline fails on a MultiheadAttention that has two names"
# path = "pipeline:stages@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "AssertionError",
#         "_IR.py:_from_traced",
#         "unflatten.py:_sink_params",
#         "unflatten.py:_sink_params",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe._from_traced: 'parent exists, ... -> assign'"
# ///
"""A layer that two containers hold: AssertionError: Attribute 'out_proj' not found in model.

The graph reads all weights of the layer by one of its names, while its calls go by the other. _from_traced
gives a stage the other names of a tensor as well, but only where the module that holds it is there already:
out_proj is never called, so that nothing made a module of that name in the stage.
"""

import sys
import warnings

import torch
from torch import nn
from torch.distributed.pipelining import SplitPoint, pipeline


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(2, 1)
        self.also = nn.Sequential(self.attention)

    def forward(self, x):
        return self.attention(x, x, x)[0]


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(2, 2),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    points = {name: SplitPoint.BEGINNING for name, _ in model.named_children()}
    try:
        pipeline(model, args, split_spec=points)
        seen = "nothing"
    except Exception as error:
        seen = f"{type(error).__name__}: {error}"
    bug = seen.startswith("AssertionError")
    print(f"{'BUG' if bug else 'ok'}: eager raises nothing, pipeline raises {seen[:100]}")
    sys.exit(bug)

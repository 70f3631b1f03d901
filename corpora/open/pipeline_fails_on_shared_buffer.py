# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "pipeline fails on a non-persistent buffer of two names"
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
#         "_IR.py:from_tracing",
#         "_IR.py:_from_traced",
#         "unflatten.py:_sink_params",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe._from_traced: named_buffers() drops names"
# ///
"""Two modules share a non-persistent buffer: AssertionError: Attribute 'a' not found in model.

_from_traced collects the names of each tensor from state_dict(), which lacks the buffer, and from
named_buffers(), which gives one name of a tensor alone. The graph may read it by the other one; the stage
then holds it under that name, and _sink_params looks for the first.

A persistent buffer has both names there, in a set: which of them is looked for is a matter of how strings
hash in this process, and it fails alike, every other time.
"""

import sys
import warnings

import torch
from torch import nn
from torch.distributed.pipelining import SplitPoint, pipeline


class Holder(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.ones(2), persistent=False)

    def forward(self, x):
        return x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Holder(), Holder()
        self.b.table = self.a.table

    def forward(self, x):
        return x + self.a.table


def make():
    return Model(), (torch.ones(2),)


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

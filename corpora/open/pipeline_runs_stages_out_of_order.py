# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD178"
# title = "pipeline: runs stages in the wrong order if they share state but pass no values"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "stages that share state but pass on no values"
# topics = ["buffers", "norms"]
# cause = """
# `split_module` orders stages by the values that they pass to each other. If they pass none, it runs the last
# one first, unless it is called with keep_original_order=True. `Pipe._from_traced` should do so: random
# numbers and writes to state depend on the order."""
# path = "pipeline:stages@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "mismatch",
#         "value",
#         "fresh",
#     ],
# ]
# fix = "pipeline_keeps_order_of_stages"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe._from_traced: no keep_original_order=True"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The first stage, a BatchNorm, updates a buffer that the second reads. The pipeline runs the second first.

`split_module` orders stages by the values that they pass to each other. If they pass none, it runs the last
one first, unless it is called with keep_original_order=True. `Pipe._from_traced` should do so: random numbers
and writes to state depend on the order.
"""

import sys

import torch
from torch import nn
from torch.distributed.pipelining import SplitPoint, pipeline


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(1)
        self.child = nn.ReLU()

    def forward(self, x):
        y = self.norm(x)
        return y, self.child(x) + self.norm.running_mean  # first difference


def make():
    return Model(), (torch.tensor([[0.0], [2.0]]),)


def show():
    model, args = make()
    expected = make()[0](*args)[1]
    return expected, pipeline(model, args, split_spec={"child": SplitPoint.BEGINNING})(*args)[1]


def make_workaround():
    """Read the state in the stage that changes it."""

    class Reading(Model):
        def forward(self, x):
            y = self.norm(x)
            mean = self.norm.running_mean.clone()
            return y, self.child(x) + mean

    return Reading(), (torch.tensor([[0.0], [2.0]]),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print("BUG:" if bug else "ok:", f"eager gives {expected.tolist()}, the pipeline {got.tolist()}")
    raise SystemExit(bug)

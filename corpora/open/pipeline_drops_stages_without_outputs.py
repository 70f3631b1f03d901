# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD173"
# title = "pipeline: drops a stage that returns nothing, although it writes to its input or to a buffer"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a stage that only updates a buffer, such as a counter, or a slice of its input"
# topics = ["in-place"]
# cause = """
# `Pipe._from_traced` calls `eliminate_dead_code` on the graph of stages. A call of a stage without users
# counts as dead there, whatever the stage does. A stage that only updates a buffer is dropped as well. Calls
# of stages that write should be kept."""
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
# fix = "pipeline_keeps_stages_that_write"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe._from_traced: split.graph.eliminate_dead_code()"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A stage writes to a slice of its input, and returns nothing. The pipeline does not run it.

`Pipe._from_traced` calls `eliminate_dead_code` on the graph of stages. A call of a stage without users counts
as dead there, whatever the stage does. A stage that only updates a buffer is dropped as well. Calls of stages
that write should be kept.
"""

import sys

import torch
from torch import nn
from torch.distributed.pipelining import SplitPoint, pipeline


class Child(nn.Module):
    def forward(self, y):
        y[:1].add_(1)  # first difference


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        y = x + 1
        self.child(y)
        return y


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    (got,) = pipeline(model, args, split_spec={"child": SplitPoint.BEGINNING})(*args)
    return 3.0, got.item()


def make_workaround():
    """Return the changed tensor from the submodule."""

    class Returning(Child):
        def forward(self, y):
            y = y.clone()
            y[:1].add_(1)
            return y

    class Receiving(Model):
        def __init__(self):
            super().__init__()
            self.child = Returning()

        def forward(self, x):
            return self.child(x + 1)

    return Receiving(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print("BUG:" if bug else "ok:", f"eager gives {expected}, the pipeline {got}")
    raise SystemExit(bug)

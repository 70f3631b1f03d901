# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD404"
# title = "pipeline: a layer runs with its old weight if the stage before it wrote to a view of the weight"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "a parent limits the weight of a layer through detach(), just before it calls the layer"
# topics = ["tied-weights", "in-place"]
# cause = """
# If several stages use a parameter, `Pipe.__init__` gives each of them a copy, so that each can be trained.
# If a stage writes to its copy, the other stages do not see it. `Pipe.__init__` should refuse such models."""
# path = "pipeline:stages@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# trigger = ["inplace.parameter"]
# upstream = "https://github.com/pytorch/pytorch/pull/126653"
# upstream-match = "place"
# upstream-searched = "2026-11-27"
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe.__init__: copies a parameter that a stage writes to"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model limits the weight of a layer, and calls the layer, which is the second stage. In the pipeline,
the layer computes with the weight as it was.

If several stages use a parameter, `Pipe.__init__` gives each of them a copy, so that each can be trained. If
a stage writes to its copy, the other stages do not see it. `Pipe.__init__` should refuse such models.
"""

import sys

import torch
from torch import nn
from torch.distributed.pipelining import SplitPoint, pipeline


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(1, 1, bias=False)
        nn.init.constant_(self.linear.weight, 3)

    def forward(self, x):
        self.linear.weight.detach().clamp_(max=1)
        return self.linear(x + 1)  # first difference


def make():
    return Model(), (torch.ones(1, 1),)


def show():
    stages = pipeline(*make(), split_spec={"linear": SplitPoint.BEGINNING})
    model, args = make()
    return model(*args), stages(*args)[0]


def make_workaround():
    """Limit the weight in the layer that uses it."""

    class Limited(nn.Linear):
        def forward(self, x):
            self.weight.detach().clamp_(max=1)
            return super().forward(x)

    class Calling(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = Limited(1, 1, bias=False)
            nn.init.constant_(self.linear.weight, 3)

        def forward(self, x):
            return self.linear(x + 1)

    return Calling(), (torch.ones(1, 1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the pipeline {got.tolist()}")
    raise SystemExit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD177"
# title = "pipeline: exchanges a buffer called mean with the result of x.mean()"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a buffer called mean next to x.mean(): silently exchanged"
# topics = ["names", "buffers"]
# cause = """
# In the traced graph, `x.mean()` is the node `mean`, and the buffer is `mean_1`; the inputs of the stage have
# these names. In the graph of stages, the buffer is `mean`. `Pipe._from_traced` uses this name to find the
# input of the stage that is the buffer."""
# path = "pipeline:stages@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "pipeline_names_state_as_stages_do"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe._from_traced: inputs_to_state[attr.name]"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The second stage should compute `x.mean() - self.mean`. It computes the reverse.

In the traced graph, `x.mean()` is the node `mean`, and the buffer is `mean_1`; the inputs of the stage have
these names. In the graph of stages, the buffer is `mean`. `Pipe._from_traced` uses this name to find the
input of the stage that is the buffer.
"""

import sys

import torch
from torch import nn
from torch.distributed.pipelining import SplitPoint, pipeline


class Model(nn.Module):
    def forward(self, x):
        return self.child(x.mean()) - self.mean  # first difference


def make():
    model = Model()
    model.child = nn.ReLU()
    model.register_buffer("mean", torch.tensor(1.0))
    return model, (torch.tensor([3.0]),)


def show():
    model, args = make()
    return model(*args), pipeline(model, args, split_spec={"child": SplitPoint.BEGINNING})(*args)[0]


def make_workaround():
    """Give the buffer a name that no operator of the model has."""

    class Renamed(Model):
        def forward(self, x):
            return self.child(x.mean()) - self.offset

    model = Renamed()
    model.child = nn.ReLU()
    model.register_buffer("offset", torch.tensor(1.0))
    return model, (torch.tensor([3.0]),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the pipeline {got}")
    raise SystemExit(bug)

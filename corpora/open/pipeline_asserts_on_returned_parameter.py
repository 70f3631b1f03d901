# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD172"
# title = "pipeline: AssertionError if the model returns a parameter"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model that returns a parameter with its result"
# topics = ["tied-weights"]
# cause = """
# `Pipe._from_traced` moves each parameter into the stages that use it. It expects that every user of a
# parameter is a stage, but here one is the output node."""
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
#         "_IR.py:pipeline",
#         "_IR.py:from_tracing",
#         "_IR.py:_from_traced",
#     ],
# ]
# fix = "pipeline_returns_state"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe._from_traced: 'Expected user.op to be call_module'"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model that returns a parameter cannot become a pipeline: "Expected user.op to be 'call_module', got
output".

`Pipe._from_traced` moves each parameter into the stages that use it. It expects that every user of a
parameter is a stage, but here one is the output node.
"""

import sys

import torch
from torch.distributed.pipelining import pipeline


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        return x + 1, self.w


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    pipeline(model, args)


def make_workaround():
    """Return a copy of the parameter."""

    class Copying(Model):
        def forward(self, x):
            return x + 1, self.w.clone()

    return Copying(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        if "Expected user.op to be" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, pipeline raises {error!r}")
    print("ok: neither eager nor pipeline raises")

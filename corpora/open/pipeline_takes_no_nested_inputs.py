# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD179"
# title = "pipeline: RuntimeError for its own example if an input is a list of tensors"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model that takes a list or tuple of tensors: the pipeline refuses its example"
# topics = ["containers"]
# cause = """
# The graph of stages has an input for each tensor, but `Pipe.forward` passes its inputs on as they are:
# "Expected positional argument for parameter pair_1". It should flatten them. The first stage does so itself,
# but only if it takes as many arguments as the model."""
# path = "pipeline:stages@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "run",
#         "RuntimeError",
#         "_IR.py:forward",
#         "_IR.py:run",
#     ],
# ]
# fix = "pipeline_flattens_inputs"
# upstream = "https://github.com/pytorch/pytorch/issues/130055"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe.forward: the inputs are not flattened"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model takes a list of two tensors. The pipeline refuses its own example.

The graph of stages has an input for each tensor, but `Pipe.forward` passes its inputs on as they are:
"Expected positional argument for parameter pair_1". It should flatten them. The first stage does so itself,
but only if it takes as many arguments as the model.
"""

import sys

import torch
from torch.distributed.pipelining import pipeline


class Model(torch.nn.Module):
    def forward(self, pair):
        return pair[0] + pair[1]


def make():
    return Model(), ([torch.ones(1), torch.ones(1)],)


def show():
    model, args = make()
    pipeline(model, args)(*args)


def make_workaround():
    """Take each tensor as a separate argument."""

    class Flat(Model):
        def forward(self, first, second):
            return first + second

    return Flat(), (torch.ones(1), torch.ones(1))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "Expected positional argument for parameter" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, the pipeline raises {error!r}")
    print("ok: neither eager nor the pipeline raises")

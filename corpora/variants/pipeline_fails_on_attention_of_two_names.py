# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "pipeline: AssertionError for an nn.MultiheadAttention that has two names"
# variant-of = "pipeline_fails_on_shared_buffer"
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
# fix = "pipeline_assigns_all_names"
# upstream = ""
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe._from_traced: 'parent exists, ... -> assign'"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Two containers have the same attention layer. `pipeline` raises "Attribute 'out_proj' not found in model".

The graph reads the weights of the layer by one of its names, and calls it by the other. `Pipe._from_traced`
assigns a tensor to the other name only if the module for it exists. `out_proj` is never called, so that there
is no module for it.
"""

import sys

import torch
from torch import nn
from torch.distributed.pipelining import pipeline


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(1, 1)
        self.also = nn.Sequential(self.attention)

    def forward(self, x):
        return self.attention(x, x, x)[0]


def make():
    return Model(), (torch.ones(1, 1),)


def show():
    model, args = make()
    pipeline(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        if "not found in model" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, pipeline raises {error!r}")
    print("ok: neither eager nor pipeline raises")

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "pipeline: TypeError for its own example if a keyword argument is a tuple of tensors"
# variant-of = "pipeline_takes_no_nested_inputs"
# path = "pipeline:stages@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "run",
#         "TypeError",
#         "_IR.py:forward",
#     ],
# ]
# fix = "pipeline_flattens_inputs"
# upstream = ""
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe.forward: Signature.bind of the names of leaves"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model takes a tuple of two tensors by keyword. The pipeline refuses its own example: "missing a
required argument: 'pair_0'".

The graph of stages has an input for each tensor, but `Pipe.forward` passes its inputs on as they are. It
should flatten them.
"""

import sys

import torch
from torch.distributed.pipelining import pipeline


class Model(torch.nn.Module):
    def forward(self, pair):
        return pair[0] + pair[1]


def make():
    return Model(), (), {"pair": (torch.ones(1), torch.ones(1))}


def show():
    model, args, kwargs = make()
    pipeline(model, args, kwargs)(**kwargs)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except TypeError as error:
        sys.exit(f"BUG: eager raises nothing, the pipeline raises {error!r}")
    print("ok: neither eager nor the pipeline raises")

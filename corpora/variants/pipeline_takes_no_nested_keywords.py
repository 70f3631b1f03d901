# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "a pipeline cannot be called with the nested keyword inputs that it was made with"
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
"""A keyword that is a tuple of tensors: TypeError: missing a required argument: 'pair_0'.

The split module takes the leaves of the inputs, one placeholder each, and Pipe.forward binds the keywords
that it was called with to the names of those placeholders. Only the code of a first stage that takes as many
arguments as the model flattens them.
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

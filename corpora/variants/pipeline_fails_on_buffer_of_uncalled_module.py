# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "pipeline: AssertionError for a shared non-persistent buffer of a child that is not called"
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
#         "_IR.py:from_tracing",
#         "_IR.py:_from_traced",
#         "unflatten.py:_sink_params",
#     ],
# ]
# fix = "pipeline_assigns_all_names"
# upstream = ""
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe._from_traced: named_buffers() drops names"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward reads a buffer of a child that it does not call, and another child has the same buffer. `pipeline`
raises "Attribute 'a' not found in model".

`Pipe._from_traced` takes the names of buffers from `named_buffers()`, which gives only one name of each
tensor: a.table. Export lets the graph read b.table, so that the stage has no module `a`. It should pass
remove_duplicate=False.
"""

import sys

import torch
from torch import nn
from torch.distributed.pipelining import pipeline


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Module(), nn.Module()
        self.a.register_buffer("table", torch.ones(1), persistent=False)
        self.b.register_buffer("table", self.a.table, persistent=False)

    def forward(self, x):
        return x + self.a.table


def make():
    return Model(), (torch.ones(1),)


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

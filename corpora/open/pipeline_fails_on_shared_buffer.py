# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD174"
# title = "pipeline: AttributeError if two layers share a non-persistent buffer"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a table of positions or a mask, in a non-persistent buffer that layers share"
# topics = ["tied-weights", "buffers"]
# cause = """
# `Pipe._from_traced` takes the names of buffers from `named_buffers()`, which gives only one name of each
# tensor: 0.table. The second layer reads it as 1.table, which the stage does not have. It should pass
# remove_duplicate=False."""
# path = "pipeline:stages@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "AttributeError",
#         "_IR.py:_from_traced",
#         "unflatten.py:_sink_params",
#         "unflatten.py:_sink_params",
#     ],
# ]
# fix = "pipeline_assigns_all_names"
# upstream = "https://github.com/pytorch/pytorch/pull/126653"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe._from_traced: named_buffers() drops names"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Two layers share a non-persistent buffer. `pipeline` raises AttributeError: no attribute 'table'.

`Pipe._from_traced` takes the names of buffers from `named_buffers()`, which gives only one name of each
tensor: 0.table. The second layer reads it as 1.table, which the stage does not have. It should pass
remove_duplicate=False.
"""

import sys

import torch
from torch import nn
from torch.distributed.pipelining import pipeline


class Layer(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.register_buffer("table", table, persistent=False)

    def forward(self, x):
        return x + self.table


def make():
    table = torch.ones(1)
    return nn.Sequential(Layer(table), Layer(table)), (torch.ones(1),)


def show():
    model, args = make()
    pipeline(model, args)


def make_workaround():
    """Give each layer a copy of the tensor."""
    table = torch.ones(1)
    return nn.Sequential(Layer(table), Layer(table.clone())), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AttributeError as error:
        if "has no attribute 'table'" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, pipeline raises {error!r}")
    print("ok: neither eager nor pipeline raises")

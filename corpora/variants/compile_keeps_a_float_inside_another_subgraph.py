# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.compile: AssertionError if a float attribute changes and is used in two checkpoints"
# variant-of = "compile_keeps_a_float_inside_a_subgraph"
# path = "compile:compiled@cpu"
# check = "guards"
# kind = "crash"
# status = "open"
# signatures = [
#     ["guards", "crash", "served", "run",
#      "AssertionError", "output_graph.py:maybe_lift_tracked_freevar_to_input"],
# ]
# fix = "float_item_in_root_graph"
# upstream = "https://github.com/pytorch/pytorch/issues/193194"
# upstream-match = "mechanism"
# at-fault = "torch/_dynamo/variables/builder.py, wrap_symfloat: `item` may be put into a subgraph"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "fixed"
# ///
"""If a float attribute of the model changes before the second call, that call fails an assertion.

Dynamo then makes the float an input of the graph and reads it with `item()`. `wrap_symfloat` puts this node
into the graph of the first checkpoint. For the second checkpoint, Dynamo looks for the node in the graphs
around it, and does not find it. It should be in the outermost graph.
"""

import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 2.0

    def forward(self, x):
        y = checkpoint(lambda t: t * self.scale, x, use_reentrant=False)
        return checkpoint(lambda t: t * self.scale, y, use_reentrant=False)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    model.compile(backend="eager")
    model(*args)
    model.scale = 3.0
    model(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        sys.exit(f"BUG: eager raises nothing, torch.compile raises {type(error).__name__}")
    print("ok: neither eager nor torch.compile raises")

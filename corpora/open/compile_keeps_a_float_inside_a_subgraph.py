# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD022"
# title = "torch.compile: error if a float attribute changes and is used in a checkpoint and after it"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a scale that changes between steps, used in a checkpoint and after it"
# topics = ["checkpoint", "attributes"]
# cause = """
# Dynamo then makes the float an input of the graph and reads it with `item()`. `wrap_symfloat` puts this node
# into the graph that is being traced, here that of the checkpoint. Code after the checkpoint is in another
# graph, and cannot use the node. It should be in the outermost graph."""
# path = "compile:compiled@cpu"
# check = "guards"
# kind = "crash"
# status = "open"
# signatures = [
#     ["guards", "crash", "served", "run",
#      "InternalTorchDynamoError", "output_graph.py:compile_and_call_fx_graph", "graph.py:lint"],
# ]
# fix = "float_item_in_root_graph"
# upstream = "https://github.com/pytorch/pytorch/issues/193194"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/193254"
# at-fault = "torch/_dynamo/variables/builder.py, wrap_symfloat: `item` may be put into a subgraph"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "fixed"
# ///
"""If a float attribute of the model changes before the second call, that call raises an internal error.

Dynamo then makes the float an input of the graph and reads it with `item()`. `wrap_symfloat` puts this node
into the graph that is being traced, here that of the checkpoint. Code after the checkpoint is in another
graph, and cannot use the node. It should be in the outermost graph.
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
        return y * self.scale


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    model.compile(backend="eager")
    model(*args)
    model.scale = 3.0
    model(*args)


def make_workaround():
    """Keep the number in a tensor, and change it with fill_."""

    class Scaling(Model):
        def __init__(self):
            super().__init__()
            self.scale = torch.tensor(2.0)

    return Scaling(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch._dynamo.exc.InternalTorchDynamoError as error:
        sys.exit(f"BUG: eager raises nothing, torch.compile raises {type(error).__name__}")
    print("ok: neither eager nor torch.compile raises")

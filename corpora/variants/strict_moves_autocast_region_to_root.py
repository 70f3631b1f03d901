# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten of a strict export: KeyError for two calls of a submodule with an autocast block"
# variant-of = "strict_moves_no_grad_region_to_root"
# path = "strict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "KeyError",
#         "unflatten.py:unflatten",
#         "unflatten.py:__init__",
#         "unflatten.py:_deduplicate_modules",
#     ],
# ]
# fix = "nodes_of_regions_have_module_stack"
# upstream = ""
# at-fault = "torch/_dynamo/output_graph.py, OutputGraph.create_node, which records no nn_module_stack"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A submodule with an autocast block is called twice. Unflattened after strict export, it raises KeyError.

Dynamo makes the nodes at both ends of the block with `create_node`, which records no nn_module_stack. So
export records the block under the root, between two parts of the submodule. unflatten makes two modules
called `child@1`, and removes both when it merges equal calls.
"""

import sys

import torch
from torch import nn


class Child(nn.Module):
    def forward(self, x):
        x = x + 1
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return x * 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(self.child(x))


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, strict=True)
    torch.export.unflatten(ep)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except KeyError as error:
        sys.exit(f"BUG: unflatten raises {error}")
    print("ok: unflatten raises nothing")

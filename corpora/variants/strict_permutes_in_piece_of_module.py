# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten of a strict export permutes a tensor of another rank after a no_grad region"
# variant-of = "strict_moves_no_grad_region_to_root"
# path = "strict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError", "number of dimensions in the tensor input does"]]
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
"""`permute` is to get what the no_grad region gives; the unflattened module gives it the first row of `x`.

The region is filed under the root, so that the submodule falls into two pieces, of which the second replaces
the first. It takes the tuple that the region returns, and its getitem makes one row of the `x` that is passed
to the first.
"""

import sys

import torch
from torch import nn


class Child(nn.Module):
    def forward(self, x):
        x = x * 3
        with torch.no_grad():
            x = x + 1
        return x.permute(1, 0)


def make():
    return nn.Sequential(Child()), (torch.ones(1, 1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args, strict=True))
    return model(*args), unflattened(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    print(f"ok: eager gives {expected}, unflatten gives {got}")

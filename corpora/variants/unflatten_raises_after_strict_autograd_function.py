# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten of a strict export: RuntimeError for a block that calls an autograd.Function"
# variant-of = "unflatten_fails_after_strict_autograd_function"
# path = "strict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "RuntimeError",
#         "unflatten.py:unflatten",
#         "unflatten.py:__init__",
#         "graph.py:lint",
#     ],
# ]
# fix = "clean_module_stacks_in_bodies"
# upstream = ""
# at-fault = "torch/_dynamo/functional_export.py, clean_nn_module_stack_and_source_fn"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A block without parameters calls an autograd.Function between two operators. Unflattened after strict
export: "call_module target `_0` does not exist", or similar.

The nodes of the autograd.Function have `_export_root` in their module stacks, which
`clean_nn_module_stack_and_source_fn` removes in the main graph only. So unflatten sees another module between
two parts of the block.
"""

import sys

import torch
from torch import nn


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        with torch.enable_grad():
            return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Block(nn.Module):
    def forward(self, x):
        return Double.apply(x + 1) + 1


def make():
    return nn.Sequential(Block()), (torch.ones(1, requires_grad=True),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, strict=True)
    return model(*args), torch.export.unflatten(ep)(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    print(f"ok: eager gives {expected}, unflatten {str(got)[:60]}")

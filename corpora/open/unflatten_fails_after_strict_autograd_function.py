# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD236"
# title = "unflatten of a strict export: RuntimeError for a submodule that calls an autograd.Function"
# harm = "obscure error"
# reach = "everyday"
# reach-because = "an autograd.Function in a child, under strict export: operators may be left out"
# evidence = ["zoo:transformers/bloom"]
# topics = ["autograd"]
# cause = """
# Strict export traces a wrapper that has the model as `_export_root`, and removes this name from the recorded
# module stacks. `clean_nn_module_stack_and_source_fn` does so in the main graph only. The nodes of the
# autograd.Function, in a graph of their own, keep it. So unflatten sees another module between two parts of
# the submodule. In a larger model, operators can be lost without an error."""
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
# upstream-searched = "2026-11-26"
# at-fault = "torch/_dynamo/functional_export.py, clean_nn_module_stack_and_source_fn"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A submodule calls an autograd.Function. Unflattened after strict export: "call_module target `_0` does not
exist", or similar.

Strict export traces a wrapper that has the model as `_export_root`, and removes this name from the recorded
module stacks. `clean_nn_module_stack_and_source_fn` does so in the main graph only. The nodes of the
autograd.Function, in a graph of their own, keep it. So unflatten sees another module between two parts of the
submodule. In a larger model, operators can be lost without an error.
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


class Child(nn.Module):
    def forward(self, x):
        return Double.apply(x + 1) + 1


def make():
    return nn.Sequential(Child()), (torch.ones(1, requires_grad=True),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, strict=True)
    return model(*args), torch.export.unflatten(ep)(*args)


def workaround_options():
    """Export without strict, which is the default."""
    return {"strict": False}


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    print(f"ok: eager gives {expected}, unflatten {str(got)[:60]}")

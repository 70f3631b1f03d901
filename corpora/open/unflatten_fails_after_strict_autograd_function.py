# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD236"
# title = "unflatten of a strict export: wrong result for a block that calls an autograd.Function"
# harm = "silently wrong"
# reach = "everyday"
# reach-because = "an activation written as an autograd.Function, as in BLOOM, under strict=True"
# evidence = ["zoo:transformers/bloom"]
# topics = ["autograd"]
# cause = """
# Strict export traces a wrapper that has the model as `_export_root`, and removes this name from the recorded
# module stacks. `clean_nn_module_stack_and_source_fn` does so in the main graph only. The nodes of the
# autograd.Function, in a graph of their own, keep it. So unflatten sees another module between two parts of
# the block, takes these for two calls of the block, and runs the second part instead of the first. In other
# programs, it raises RuntimeError: "call_module target `_0` does not exist"."""
# path = "strict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
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
"""A block calls an autograd.Function between two operators. Unflattened after strict export, it gives a wrong
result.

Strict export traces a wrapper that has the model as `_export_root`, and removes this name from the recorded
module stacks. `clean_nn_module_stack_and_source_fn` does so in the main graph only. The nodes of the
autograd.Function, in a graph of their own, keep it. So unflatten sees another module between two parts of the
block, takes these for two calls of the block, and runs the second part instead of the first. In other
programs, it raises RuntimeError: "call_module target `_0` does not exist".
"""

import sys

import torch
from torch import nn


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        with torch.enable_grad():  # without this, the graph has a no_grad block here
            return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(1, 1)

    def forward(self, x):
        return Double.apply(self.linear(x)) + 1  # first difference


def make():
    torch.manual_seed(0)
    return nn.Sequential(Block()), (torch.ones(1),)


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
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)

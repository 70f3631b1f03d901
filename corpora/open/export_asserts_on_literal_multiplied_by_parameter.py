# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD075"
# title = "torch.export: AssertionError if a checkpoint overwrites a literal that a parameter has multiplied"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a tensor literal multiplied in place by a parameter, then overwritten inside a checkpoint"
# topics = ["constants", "in-place", "checkpoint"]
# cause = """
# The constant requires no grad; after `mul_` its fake tensor does. `_preserve_requires_grad_pass` compares
# the constant with this updated fake tensor: "node requires_grad True does not match constant requires_grad
# False". It should compare what the constant was at first."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "AssertionError", "_trace.py:_export_to_aten_ir_make_fx"]]
# fix = "constants_are_leaves_before_the_first_update"
# upstream = "https://github.com/pytorch/pytorch/pull/128656"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_trace.py, _preserve_requires_grad_pass: asks a tensor that tracing updated"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Forward multiplies `torch.tensor([0.0, 0.5])` in place by a parameter, and a checkpoint overwrites the
result. Export fails an assertion.

The constant requires no grad; after `mul_` its fake tensor does. `_preserve_requires_grad_pass` compares the
constant with this updated fake tensor: "node requires_grad True does not match constant requires_grad False".
It should compare what the constant was at first.
"""

import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(2))
        self.child = nn.ReLU(inplace=True)

    def forward(self):
        t = torch.tensor([0.0, 0.5])
        t.mul_(self.w)
        return checkpoint(self.child, t, use_reentrant=False)


def make():
    return Model(), ()


def show():
    model, args = make()
    torch.export.export(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        if "True does not match constant" not in str(error):
            raise
        sys.exit(f"BUG: export raises AssertionError: {error}")
    print("ok: export takes it too")

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD400"
# title = "run_decompositions: the gradient of celu is nan above 88"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "nn.CELU of large activations, trained after run_decompositions"
# topics = ["autograd"]
# cause = """
# celu is x where x is positive, and alpha * expm1(x / alpha) elsewhere. The decomposition computes both, and
# selects with `torch.where`. Above 88, expm1(x) is infinite. Backward multiplies the gradient 0 of the
# formula that is not selected by infinity: nan. The decomposition should limit what it gives to expm1."""
# path = "nonstrict+decompose:module@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "value", "input"]]
# fix = "decomposed_celu_has_finite_gradients"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_refs/nn/functional/__init__.py, celu: expm1 of a large number"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The gradient of celu of a large number is 1. After run_decompositions, it is nan.

celu is x where x is positive, and alpha * expm1(x / alpha) elsewhere. The decomposition computes both, and
selects with `torch.where`. Above 88, expm1(x) is infinite. Backward multiplies the gradient 0 of the formula
that is not selected by infinity: nan. The decomposition should limit what it gives to expm1.
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return F.celu(x)  # first difference


def make():
    return Model(), (torch.full((1,), 100.0, requires_grad=True),)


def gradient(module, args):
    module(*args).sum().backward()
    return args[0].grad


def show():
    model, args = make()
    expected = gradient(model, args)
    args = make()[1]
    program = torch.export.export(model, args).run_decompositions()
    return expected, gradient(program.module(), args)


def make_workaround():
    """Give celu only the negative part."""

    class Parts(nn.Module):
        def forward(self, x):
            return F.relu(x) + F.celu(x.clamp(max=0))

    return Parts(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the gradient of eager is {expected}, here {got}")
    raise SystemExit(bug)

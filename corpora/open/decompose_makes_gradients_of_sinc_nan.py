# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD359"
# title = "run_decompositions: the gradient of sinc at 0 is nan"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "filters that are learned as sinc functions: their middle is at 0"
# topics = ["autograd"]
# cause = """
# sinc is sin(x) / x, and 1 at 0. The decomposition computes 0 / 0 there, too, and replaces it by 1 with
# `torch.where`. Backward divides a gradient of 0 by this x, which is 0: nan. The decomposition should replace
# x before the division."""
# path = "nonstrict+decompose:module@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "value", "input"]]
# fix = "decomposed_sinc_has_finite_gradients"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_refs/__init__.py, sinc: divides by zero"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The gradient of sinc at 0 is 0. After run_decompositions, it is nan.

sinc is sin(x) / x, and 1 at 0. The decomposition computes 0 / 0 there, too, and replaces it by 1 with
`torch.where`. Backward divides a gradient of 0 by this x, which is 0: nan. The decomposition should replace x
before the division.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.sinc(x)  # first difference


def make():
    return Model(), (torch.zeros(1, requires_grad=True),)


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
    """Replace 0 before the division."""

    class Replacing(nn.Module):
        def forward(self, x):
            zero = x == 0
            y = torch.pi * x.masked_fill(zero, 1)
            return torch.where(zero, 1, torch.sin(y) / y)

    return Replacing(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the gradient of eager is {expected}, here {got}")
    raise SystemExit(bug)

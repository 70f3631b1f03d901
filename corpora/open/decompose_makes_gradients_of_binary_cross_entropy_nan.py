# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD378"
# title = "run_decompositions: gradients of binary_cross_entropy are nan where a probability is 0 or 1"
# harm = "wrong later"
# reach = "everyday"
# reach-because = "BCELoss after a sigmoid, which is exactly 1 from about 17 on"
# evidence = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.BCELoss.html"]
# topics = ["losses"]
# cause = """
# Where a probability is 0 or 1, one of the two logarithms is -inf. The decomposition replaces it by -100 with
# `torch.maximum`. Backward multiplies the gradient 0 of this maximum by the infinite gradient of the
# logarithm: nan. The decomposition should replace the probability before the logarithm."""
# path = "nonstrict+decompose:module@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "value", "input"]]
# fix = "decomposed_cross_entropy_has_finite_gradients"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_decomp/decompositions.py, binary_cross_entropy: takes the logarithm of zero"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A sigmoid of a large number is exactly 1. binary_cross_entropy of it has finite gradients in eager and
after export, as its documentation says. After run_decompositions, they are nan.

Where a probability is 0 or 1, one of the two logarithms is -inf. The decomposition replaces it by -100 with
`torch.maximum`. Backward multiplies the gradient 0 of this maximum by the infinite gradient of the logarithm:
nan. The decomposition should replace the probability before the logarithm.
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return F.binary_cross_entropy(torch.sigmoid(x), torch.ones(1))  # first difference


def make():
    return Model(), (torch.full((1,), 200.0, requires_grad=True),)


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
    """Leave the sigmoid to the loss."""

    class Logits(nn.Module):
        def forward(self, x):
            return F.binary_cross_entropy_with_logits(x, torch.ones(1))

    return Logits(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the gradient of eager is {expected}, here {got}")
    raise SystemExit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD358"
# title = "run_decompositions: the gradient of rrelu is uninitialized memory"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a model with nn.RReLU, trained after run_decompositions"
# topics = ["random", "autograd"]
# cause = """
# rrelu draws its slopes into a new tensor, `noise`. After run_decompositions, the operator is
# `rrelu_with_noise_functional`, which leaves `noise` as it is and returns the slopes as a second result. But
# its derivative reads `noise`, which nobody has filled. It should read the second result."""
# path = "nonstrict+decompose:module@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "value"]]
# trigger = ["layer.rrelu", "model.training"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "tools/autograd/derivatives.yaml, rrelu_with_noise_functional: reads noise, not the result"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model with rrelu is trained. After run_decompositions, its gradients are what happened to be in memory.

rrelu draws its slopes into a new tensor, `noise`. After run_decompositions, the operator is
`rrelu_with_noise_functional`, which leaves `noise` as it is and returns the slopes as a second result. But
its derivative reads `noise`, which nobody has filled. It should read the second result.
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return F.rrelu(x, training=True)  # first difference


def make():
    return Model(), (torch.ones(8, requires_grad=True),)


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
    """Draw the slopes with torch.rand_like."""

    class Drawing(nn.Module):
        def forward(self, x):
            slopes = 1 / 8 + (1 / 3 - 1 / 8) * torch.rand_like(x)
            return torch.where(x < 0, x * slopes, x)

    return Drawing(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the gradient of eager is {expected}, here {got}")
    raise SystemExit(bug)

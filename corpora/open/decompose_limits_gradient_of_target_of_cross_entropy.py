# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD409"
# title = "run_decompositions: binary_cross_entropy gives its target a gradient of -100 instead of -inf"
# harm = "wrong later"
# reach = "contrived"
# reach-because = "a target that requires grad, and a probability that is exactly 0 or 1"
# topics = ["losses"]
# cause = """
# Eager limits the logarithms in the loss to -100, but not those in the gradient of the target. The
# decomposition limits them with `torch.maximum`, and autograd differentiates this: the gradient of the target
# has the limited logarithms. Both should limit the same."""
# path = "nonstrict+decompose:module@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "value", "input"]]
# trigger = ["op.binary_cross_entropy"]
# upstream = "https://github.com/pytorch/pytorch/pull/44950"
# upstream-match = "place"
# upstream-searched = "2026-11-27"
# at-fault = """
# torch/_decomp/decompositions.py, binary_cross_entropy: its gradient of the target is not that of eager"""
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""One network gives probabilities, another one gives the target. Where a probability is 1, the gradient of
the target is -inf in eager. After run_decompositions, it is -100.

Eager limits the logarithms in the loss to -100, but not those in the gradient of the target. The
decomposition limits them with `torch.maximum`, and autograd differentiates this: the gradient of the target
has the limited logarithms. Both should limit the same.
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, logits, target):
        return F.binary_cross_entropy(torch.sigmoid(logits), target)  # first difference


def make():
    return Model(), (torch.full((1,), 200.0), torch.full((1,), 0.5, requires_grad=True))


def gradient(module, args):
    module(*args).backward()
    return args[1].grad


def show():
    model, args = make()
    expected = gradient(model, args)
    args = make()[1]
    program = torch.export.export(model, args).run_decompositions()
    return expected, gradient(program.module(), args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the gradient of the target is {expected} in eager, here {got}")
    raise SystemExit(bug)

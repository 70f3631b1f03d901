# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD367"
# title = "run_decompositions: gradients of special.log_ndtr are nan below -6 and above 14"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "log-probabilities of a normal distribution, as in a probit model"
# topics = ["autograd"]
# cause = """
# log_ndtr has one formula below 1 and another above. The decomposition computes both for all numbers, and
# selects with `torch.where`. Far from 1, the gradient of the formula that is not selected is infinite or nan,
# and backward multiplies it by 0: nan. The decomposition should give each formula only the numbers that it is
# for."""
# path = "nonstrict+decompose:module@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "value", "input"]]
# fix = "decomposed_log_ndtr_has_finite_gradients"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_refs/special/__init__.py, log_ndtr: both formulas for all numbers"
# workaround = "none: drop torch.ops.aten.special_log_ndtr.default from the table of decompositions"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The gradient of log_ndtr is finite. After run_decompositions, it is nan for numbers below -6 or above 14.

log_ndtr has one formula below 1 and another above. The decomposition computes both for all numbers, and
selects with `torch.where`. Far from 1, the gradient of the formula that is not selected is infinite or nan,
and backward multiplies it by 0: nan. The decomposition should give each formula only the numbers that it is
for.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.special.log_ndtr(x)  # first difference


def make():
    return Model(), (torch.tensor([-20.0, 20.0], requires_grad=True),)


def gradient(module, args):
    module(*args).sum().backward()
    return args[0].grad


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
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the gradient of eager is {expected}, here {got}")
    raise SystemExit(bug)

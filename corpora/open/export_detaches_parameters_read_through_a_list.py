# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD084"
# title = "torch.export: no gradient for parameters that forward reads from a list"
# harm = "wrong later"
# reach = "everyday"
# reach-because = "weight decay in forward over a list of weights: silently without effect"
# evidence = ["https://github.com/pytorch/pytorch/issues/163303"]
# topics = ["constants"]
# cause = """
# For tracing, `_non_strict_export` replaces registered parameters by fake tensors. The list still has the
# real parameters, which tracing takes for unknown tensors. They should be recognized. Strict export is
# right."""
# path = "nonstrict:module@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "value", "state"]]
# fix = "state_is_fake_by_all_names"
# upstream = "https://github.com/pytorch/pytorch/issues/163303"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/185106"
# at-fault = "torch/export/_trace.py, _non_strict_export: only registered names get the fake tensors"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A registered parameter that forward reads from a list becomes a constant of the program, without gradient.

For tracing, `_non_strict_export` replaces registered parameters by fake tensors. The list still has the real
parameters, which tracing takes for unknown tensors. They should be recognized. Strict export is right.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)
        self.decayed = [self.layer.weight]

    def forward(self, x):
        return self.layer(x).sum() + sum(weight.square().sum() for weight in self.decayed)  # first difference


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(1, 2),)


def gradient(module, args):
    module(*args).backward()
    return module.layer.weight.grad.tolist()


def show():
    model, args = make()
    expected = gradient(model, args)
    model, args = make()
    return expected, gradient(torch.export.export(model, args, strict=False).module(), args)


def make_workaround():
    """Keep the names of the parameters in the list, and read each parameter by its name."""

    class Reading(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 1)
            self.decayed = ["layer.weight"]

        def forward(self, x):
            weights = map(self.get_parameter, self.decayed)
            return self.layer(x).sum() + sum(weight.square().sum() for weight in weights)

    torch.manual_seed(0)
    return Reading(), (torch.ones(1, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: gradient of the weight: {expected} in eager, {got} exported")
    raise SystemExit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: the result of a module in a list requires no grad, though its weight is registered"
# variant-of = "export_detaches_parameters_read_through_a_list"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "requires-grad", "fresh"]]
# fix = "state_is_fake_by_all_names"
# upstream = "https://github.com/pytorch/pytorch/issues/163303"
# upstream-match = "mechanism"
# at-fault = "torch/export/_trace.py, _non_strict_export: only registered names get the fake tensors"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A layer is kept in a list, and its weight registered so that the optimizer finds it: it is not trained.

Tracing has a fake tensor where the weight is registered. The layer, which no module registers, goes on
holding the real parameter, so that the program takes it for a constant.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 1, bias=False)]
        self.weight = self.layers[0].weight

    def forward(self, x):
        return self.layers[0](x)


def make():
    return Model(), (torch.ones(1, 2),)


def show():
    model, args = make()
    expected = model(*args).requires_grad
    return expected, torch.export.export(model, args, strict=False).module()(*args).requires_grad


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: requires_grad is {expected} in eager, {got} exported")
    raise SystemExit(bug)

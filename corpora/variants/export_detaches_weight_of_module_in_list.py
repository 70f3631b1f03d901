# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: no gradient for the weight of a module in a list, though the weight is registered"
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
"""A layer is in a plain list, and its weight is also registered on the model. The program does not train the
weight.

For tracing, `_non_strict_export` puts fake tensors where parameters are registered. The layer still has the
real weight, which becomes a constant.
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

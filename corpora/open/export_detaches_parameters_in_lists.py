# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD083"
# title = "torch.export: no gradient for a parameter in a plain list, and no warning"
# harm = "wrong later"
# reach = "contrived"
# reach-because = "parameters in a plain list, which an optimizer must be given by hand"
# topics = ["constants"]
# cause = """
# `lift_constants_pass` makes a constant of a parameter that is not registered, and takes its `.data`. Only
# the debug log says so. It should warn or refuse."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "requires-grad"]]
# trigger = ["state.held_parameter"]
# upstream = "https://github.com/pytorch/pytorch/issues/163303"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/passes/lift_constants_pass.py: constant_val = constant_val.data"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A parameter in a plain list gets a gradient in eager. The exported program computes none for it.

`lift_constants_pass` makes a constant of a parameter that is not registered, and takes its `.data`. Only the
debug log says so. It should warn or refuse.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = [torch.nn.Parameter(torch.ones(2))]

    def forward(self, x):
        return x * self.weights[0]  # first difference


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    module = torch.export.export(model, args).module()
    return model(*args).requires_grad, module(*args).requires_grad


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: requires_grad is {expected} in eager, {got} in the exported program")
    raise SystemExit(bug)

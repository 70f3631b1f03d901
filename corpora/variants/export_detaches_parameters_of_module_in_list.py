# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: no gradient for the parameters of a module in a plain list, and no warning"
# variant-of = "export_detaches_parameters_in_lists"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "requires-grad"]]
# trigger = ["hierarchy.plain_container"]
# upstream = "https://github.com/pytorch/pytorch/issues/163303"
# upstream-match = "place"
# at-fault = "torch/_export/passes/lift_constants_pass.py: constant_val = constant_val.data"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A layer in a plain list gets gradients in eager. After export, it gets none.

Layers in a plain list are not registered, nor are their parameters. `lift_constants_pass` makes constants of
these, and takes their `.data`, which needs no gradient. Only the debug log says so. Export should warn or
refuse.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 1)]

    def forward(self, x):
        return self.layers[0](x)


def make():
    return Model(), (torch.ones(1, 2),)


def show():
    model, args = make()
    return model(*args).requires_grad, torch.export.export(model, args).module()(*args).requires_grad


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: requires_grad is {expected} in eager, {got} exported")
    raise SystemExit(bug)

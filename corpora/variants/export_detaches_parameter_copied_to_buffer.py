# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: a buffer requires no gradient after a copy of a parameter in a plain dict"
# variant-of = "export_detaches_parameters_in_lists"
# path = "nonstrict:module@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "requires-grad", "buffer"]]
# trigger = ["state.held_parameter", "inplace.buffer"]
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
"""Forward copies a parameter of a plain dict to a buffer. In eager, the buffer then requires a gradient; in
the exported program, it does not.

A parameter in a plain dict is not registered. `lift_constants_pass` makes a constant of it, and takes its
`.data`, which needs no gradient. Only the debug log says so. Export should warn or refuse.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(2))
        self.weights = {"a": nn.Parameter(torch.ones(2))}

    def forward(self, x):
        self.last.copy_(self.weights["a"])  # first difference
        return x + 1


def make():
    return Model(), (torch.ones(2),)


def show():
    eager, args = make()
    module = torch.export.export(*make()).module()
    (eager(*args), module(*args))
    return eager.last.requires_grad, module.last.requires_grad


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the buffer requires a gradient: {expected} in eager, {got} exported")
    raise SystemExit(bug)

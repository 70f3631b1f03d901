# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD138"
# title = "torch.export: a parameter of a module in a list becomes a new constant at each use"
# harm = "wrong later"
# reach = "contrived"
# reach-because = "a weight that no module registers, returned twice: two tensors in the program"
# topics = ["constants", "tied-weights"]
# cause = """
# `lift_constants_pass` makes one constant of a tensor, however often it is used. For a parameter it takes
# `.data`, which is another tensor each time, and so it makes a constant for each use."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "identity", "output"]]
# fix = "parameters_are_lifted_once"
# upstream = ""
# at-fault = "torch/_export/passes/lift_constants_pass.py, lift_constants_pass: constant_val.data"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model returns one unregistered parameter twice. The program returns two tensors.

`lift_constants_pass` makes one constant of a tensor, however often it is used. For a parameter it takes
`.data`, which is another tensor each time, and so it makes a constant for each use.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.held = [nn.Linear(2, 2)]

    def forward(self, x):
        return self.held[0](x), self.held[0].weight, self.held[0].weight  # first difference


def make():
    return Model(), (torch.ones(1, 2),)


def show():
    model, args = make()
    _, first, second = model(*args)
    expected = first is second
    _, first, second = torch.export.export(model, args, strict=False).module()(*args)
    return expected, first is second


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: one tensor comes twice: eager {expected}; here {got}")
    raise SystemExit(bug)

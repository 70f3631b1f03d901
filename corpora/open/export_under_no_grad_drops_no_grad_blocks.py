# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD412"
# title = "torch.export under torch.no_grad(): no_grad blocks of the model are lost, and gradients flow"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a model with a frozen part, exported under no_grad and trained afterwards"
# topics = ["no-grad"]
# cause = """
# Export makes regions of no_grad blocks. It leaves out each block that has the grad mode in which export was
# called, though the program may be run in another. It should keep the blocks that the model has."""
# path = "nonstrict+under_no_grad:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [
#   ["outputs", "mismatch", "requires-grad", "fresh"],
#   ["gradients", "mismatch", "none", "state", "new"],
# ]
# trigger = ["region.no_grad"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_export/passes/replace_set_grad_with_hop_pass.py, omit_if_same_with_ambient=True"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model computes a scale under no_grad, and is exported under no_grad. The exported program is run outside:
a gradient flows to the parameter of the scale.

Export makes regions of no_grad blocks. It leaves out each block that has the grad mode in which export was
called, though the program may be run in another. It should keep the blocks that the model has.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, x):
        with torch.no_grad():
            scale = torch.tanh(self.scale)  # first difference
        return x * scale


def make():
    return Model(), (torch.ones(3),)


def show():
    model, args = make()
    with torch.no_grad():
        program = torch.export.export(model, args)
    return model(*args).requires_grad, program.module()(*args).requires_grad


def make_workaround():
    """Detach the scale."""

    class Detaching(Model):
        def forward(self, x):
            return x * torch.tanh(self.scale).detach()

    return Detaching(), (torch.ones(3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: requires_grad of the result is {expected} in eager, here {got}")
    raise SystemExit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD227"
# title = "move_to_device_pass: a tied parameter becomes two parameters"
# harm = "wrong later"
# reach = "everyday"
# reach-because = "tied weights are two parameters once moved: silently trained apart"
# evidence = ["zoo:transformers/gpt2", "zoo:transformers/bart"]
# topics = ["tied-weights"]
# cause = """
# Gradients flow to one of them only, and an optimizer updates both. `move_to_device_pass` makes a new
# Parameter for each name."""
# path = "nonstrict+todevice:module@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [["sharing", "mismatch", "one-tensor-became-several", "parameter"]]
# fix = "move_to_device_keeps_tied_weights"
# upstream = "https://github.com/pytorch/pytorch/pull/133660"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/passes/__init__.py, move_to_device_pass: nn.Parameter(...) for each name"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A parameter has two names. In the program that move_to_device_pass returns, it is two parameters, even for
the same device.

Gradients flow to one of them only, and an optimizer updates both. `move_to_device_pass` makes a new Parameter
for each name.
"""

import sys

import torch
from torch.export.passes import move_to_device_pass


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = self.b = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        return x + self.a + self.b


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    moved = move_to_device_pass(torch.export.export(model, args), "cpu").module()
    return len(list(model.parameters())), len(list(moved.parameters()))


def make_workaround():
    """Register the parameter under one name, and read it by this name everywhere."""

    class Named(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Parameter(torch.ones(1))

        def forward(self, x):
            return x + self.a + self.a

    return Named(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print("BUG:" if bug else "ok:", f"the model has {expected} parameter, the moved program {got}")
    raise SystemExit(bug)

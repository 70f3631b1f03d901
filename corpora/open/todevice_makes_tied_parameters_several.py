# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "A parameter with two names is two parameters after move_to_device_pass"
# path = "nonstrict+todevice:module@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [["sharing", "mismatch", "one-tensor-became-several", "parameter"]]
# affected = "2.13.0"
# at-fault = "torch/export/passes/__init__.py, move_to_device_pass: nn.Parameter(...) for each name"
# ///
"""One parameter under two names is two parameters after move_to_device_pass, even to where it is.

Gradients flow to one of them only, an optimizer counts both, and on another device their memory is two as
well: a step of training unties them. The pass makes a new Parameter for each name in the state dict.
"""

import sys
import warnings

import torch
from torch import nn
from torch.export.passes import move_to_device_pass


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)
        self.b = nn.Linear(2, 2)
        self.b.weight = self.a.weight

    def forward(self, x):
        return self.b(self.a(x))


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(1, 2),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    moved = move_to_device_pass(torch.export.export(model, args, strict=False), "cpu").module()
    expected, seen = len(list(model.parameters())), len(list(moved.parameters()))
    bug = expected != seen
    print(f"{'BUG' if bug else 'ok'}: the model has {expected} parameters, after moving {seen}")
    sys.exit(bug)

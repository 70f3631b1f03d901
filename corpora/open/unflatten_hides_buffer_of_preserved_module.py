# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "A preserved submodule that is called twice has no buffers after unflatten"
# path = "nonstrict+preserve:unflatten@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "missing", "buffer"]]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, InterpreterModuleDispatcher.__init__: setattr"
# ///
"""The state dict of the unflattened module has no `child.offset`; what is loaded for it goes nowhere.

The calls of a preserved submodule are collected in an InterpreterModuleDispatcher. It takes over what the
first of them holds by setattr, which registers parameters, but makes plain attributes of buffers.
"""

import sys
import warnings

import torch
from torch import nn


class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("offset", torch.ones(1))

    def forward(self, x):
        return x + self.offset


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(self.child(x))


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    ep = torch.export.export(model, args, strict=False, preserve_module_call_signature=("child",))
    expected, seen = list(model.state_dict()), list(torch.export.unflatten(ep).state_dict())
    bug = expected != seen
    print(f"{'BUG' if bug else 'ok'}: the state of eager is {expected}, that of unflatten is {seen}")
    sys.exit(bug)

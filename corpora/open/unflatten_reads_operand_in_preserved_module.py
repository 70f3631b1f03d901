# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "What a preserved submodule does not get as an argument is replaced by what it was computed from"
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, _IVals.read: mf.remap_input(node.args[0])"
# ///
"""`child` reads `scaled`, which its parent has computed; in the unflattened module it reads `x` instead.

A preserved submodule has no placeholders but for its arguments. Whatever else it reads is taken for an
intermediate value of a mutation, and the first operand of the operator that computed it is read in its
place, be it one that mutates or not.
"""

import sys
import warnings

import torch
from torch import nn


class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.scaled = torch.zeros(1)

    def forward(self, x):
        return x + self.scaled


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        self.child.scaled = x * 10
        return self.child(x)


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    kept = tuple(name for name, _ in model.named_modules() if name)
    ep = torch.export.export(make()[0], args, strict=False, preserve_module_call_signature=kept)
    expected, seen = model(*args), torch.export.unflatten(ep)(*args)
    bug = not torch.equal(expected, seen)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {seen}")
    sys.exit(bug)

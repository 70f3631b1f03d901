# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten of preserved submodules prints what it reads to standard output"
# path = "nonstrict+preserve:unflatten@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "lower", "prints", "standard output"]]
# affected = "2.13.0"
# fix = "unflatten_prints_nothing"
# upstream = ""
# at-fault = "torch/export/unflatten.py, _IVals.read: print(\"Checking mutability\", ...)"
# ///
"""`child` reads the buffer that its parent has updated; unflatten says "Checking mutability ..." about it.

The print that says so is unconditional: who writes results to standard output has these lines among them.
"""

import contextlib
import io
import sys
import warnings

import torch
from torch import nn


class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        return x + self.count


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        self.child.count.add_(1)
        return self.child(x)


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    ep = torch.export.export(model, args, strict=False, preserve_module_call_signature=("child",))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        torch.export.unflatten(ep)
    bug = bool(printed.getvalue())
    print(f"{'BUG' if bug else 'ok'}: unflatten prints {printed.getvalue()!r}")
    sys.exit(bug)

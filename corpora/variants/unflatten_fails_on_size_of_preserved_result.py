# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: RuntimeError if the size of a preserved submodule's result depends on data"
# variant-of = "unflatten_asks_caller_for_what_a_child_wrote"
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError", "The size of tensor must match the size"]]
# fix = "unflatten_finds_what_preserved_modules_read"
# upstream = ""
# at-fault = "torch/export/unflatten.py, _ModuleFrame.copy_sym_call_function: remap_input, x.args"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved submodule selects elements of x. Its parent reads how many. The unflattened model raises
RuntimeError. If x has one positive element, nothing raises: the result is wrong, and x is overwritten.

The parent computes the number again, from `kept` in the submodule, which the submodule does not return.
unflatten takes `kept` for a new value of x, and adds `x.copy_(kept)`. It should read the size of the result
that it has.
"""

import sys

import torch
from torch import nn


class Positive(nn.Module):
    def forward(self, x):
        kept = x[x > 0]
        return kept * 2


class Mean(nn.Module):
    def __init__(self):
        super().__init__()
        self.positive = Positive()

    def forward(self, x):
        doubled = self.positive(x)
        return doubled.sum() / doubled.shape[0]


def make():
    return Mean(), (torch.tensor([1.0, -1.0, 2.0, -3.0]),)


def show():
    model, args = make()
    program = torch.export.export(model, args, preserve_module_call_signature=("positive",))
    unflattened = torch.export.unflatten(program)
    return model(*args), unflattened(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: {error}")
    print(f"ok: eager gives {expected}, the unflattened module {got}")

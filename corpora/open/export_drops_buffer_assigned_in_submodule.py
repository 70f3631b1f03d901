# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "the assignment of a buffer is lost if the buffer is a submodule's"
# path = "nonstrict:module@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch"]]
# affected = "2.13.0"
# at-fault = "torch/_functorch/_aot_autograd/utils.py, register_buffer_assignment_hook: root module only"
# ///
"""`self.count = self.count + 1` counts in the root module, and does nothing one module further down.

The programming model of export allows both ways to update a buffer, in place and by assignment. The hook
that notes assignments asks `_mod._buffers is mod._buffers`, which holds for the root alone: the
assignment in a submodule leaves no trace in the graph and no warning. Eager leaves 1, the program 0.
"""

import sys
import warnings

import torch
from torch import nn


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        self.count = self.count + 1
        return x + self.count


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.counter = Counter()

    def forward(self, x):
        return self.counter(x)


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    program = torch.export.export(make()[0], args, strict=False).module()
    model(*args)
    program(*args)
    expected, seen = model.counter.count, program.counter.count
    bug = not torch.equal(expected, seen)
    print(f"{'BUG' if bug else 'ok'}: eager leaves {expected} in counter.count, export leaves {seen}")
    sys.exit(bug)

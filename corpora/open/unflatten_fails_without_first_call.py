# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten fails on a no_grad region below a module whose first call computes nothing"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "AssertionError",
#         "unflatten.py:unflatten",
#         "unflatten.py:__init__",
#         "unflatten.py:_copy_graph_attrs",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, _copy_graph_attrs"
# ///
"""The first call of `outer` leaves no node, so that only `outer@1` exists: AssertionError.

The body of the no_grad region belongs to `outer@1.inner`, but _copy_graph_attrs looks for it at the name
that _ModuleFrame made of the last part alone, here `outer.inner`. Normally that is the same thing,
because all calls share their submodules; without a first call nothing is there.
"""

import sys
import warnings

import torch
from torch import nn


class Inner(nn.Module):
    def forward(self, x):
        with torch.no_grad():
            return x + 1


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x, flag):
        return self.inner(x) if flag else x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.outer = Outer()

    def forward(self, x):
        return self.outer(self.outer(x, False), True)


def make():
    return Model(), (torch.ones(2),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    ep = torch.export.export(model, args, strict=False)
    seen = "a module"
    try:
        torch.export.unflatten(ep)
    except AssertionError as error:
        seen = repr(error)
    bug = seen != "a module"
    print(f"{'BUG' if bug else 'ok'}: unflatten gives {seen}")
    sys.exit(bug)

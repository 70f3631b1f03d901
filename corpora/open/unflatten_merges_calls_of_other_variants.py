# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten merges two calls that differ only in which variant of a child they call"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, _check_graph_equivalence"
# ///
"""A flag that reaches through two levels: unflatten runs the first call's graph for both calls.

`inner` gets two graphs, `inner` and `inner@1`. The two graphs of `outer` then differ in nothing but the
target of their call_module node, and that is the one thing that _check_graph_equivalence leaves out of
the comparison. So they are merged, and `inner@1` is never run: eager gives 20, unflatten gives 3.
"""

import sys
import warnings

import torch
from torch import nn


class Inner(nn.Module):
    def forward(self, x, flag):
        return x + 1 if flag else x * 10


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x, flag):
        return self.inner(x, flag)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.outer = Outer()

    def forward(self, x):
        return self.outer(self.outer(x, True), False)


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    expected = model(*args)
    seen = torch.export.unflatten(torch.export.export(model, args, strict=False))(*args)
    bug = not torch.equal(expected, seen)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {seen}")
    sys.exit(bug)

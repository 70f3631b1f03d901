# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten runs a variant of a child that was given another number"
# path = "nonstrict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "steps", "arguments"]]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, _check_graph_equivalence"
# ///
"""The second call multiplies by 3, the first by 2, and the unflattened module multiplies by 2 both times.

The two names of the child get a graph each, which differ in a number. The two graphs of `outer` differ in the
target of their call_module node alone, are taken for one, and `second` is never called. On the example no
value tells. The cause is that of unflatten_merges_calls_of_other_variants.
"""

import sys
import warnings

import torch
from torch import nn


class Inner(nn.Module):
    def forward(self, x, n):
        return x * n


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Inner()
        self.second = self.first

    def forward(self, x, n):
        return self.first(x, n) if n == 2 else self.second(x, n)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.outer = Outer()

    def forward(self, x):
        return self.outer(self.outer(x, 2), 3) > 99


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args, strict=False))
    expected, seen = (module(torch.tensor([20.0])) for module in (model, unflattened))
    bug = not torch.equal(expected, seen)
    print(f"{'BUG' if bug else 'ok'}: for 20.0, eager gives {expected}, unflatten gives {seen}")
    sys.exit(bug)

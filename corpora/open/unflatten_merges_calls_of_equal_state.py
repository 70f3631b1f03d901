# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten merges two calls of other graphs, which shows once the state has other values"
# path = "nonstrict:unflatten@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [["sharing", "mismatch", "edit", "value"]]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, _check_graph_equivalence"
# ///
"""One call multiplies by `w`, the other divides by it: the same while `w` is 1, and wrong afterwards.

So an unflattened model can pass every test with its first weights and compute something else with those that
it is trained to, or loaded with. The cause is that of unflatten_merges_calls_of_other_variants.
"""

import sys
import warnings

import torch
from torch import nn


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("w", torch.ones(1))

    def forward(self, x, flag):
        return x * self.w if flag else x / self.w


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
        return self.outer(x, True), self.outer(x, False)


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(make()[0], args, strict=False))
    for module in (model, unflattened):
        module.outer.inner.w.mul_(0.5)
    expected, seen = model(*args), unflattened(*args)
    bug = expected != seen
    print(f"{'BUG' if bug else 'ok'}: with w = 0.5 eager gives {expected}, unflatten gives {seen}")
    sys.exit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten runs a variant of a child that lacks an operator of the one called"
# path = "nonstrict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "steps", "missing", "operator"]]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, _check_graph_equivalence"
# ///
"""The second call begins with abs, the first calls a child at once, as does the unflattened module twice.

`inner` gets two graphs, of which `inner@1` has the abs. The two graphs of `outer` differ in the target of
their call_module node alone, are taken for one, and `inner@1` is never run. On the example no value tells.
The cause is that of unflatten_merges_calls_of_other_variants.
"""

import sys
import warnings

import torch
from torch import nn


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = nn.LeakyReLU()

    def forward(self, x, positive):
        return self.child(x.abs() if positive else x)


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x, positive):
        return self.inner(x, positive)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.outer = Outer()

    def forward(self, x):
        return self.outer(self.outer(x, False), True) > 99


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args, strict=False))
    expected, seen = (module(torch.tensor([-2e5])) for module in (model, unflattened))
    bug = not torch.equal(expected, seen)
    print(f"{'BUG' if bug else 'ok'}: for -2e5, eager gives {expected}, unflatten gives {seen}")
    sys.exit(bug)

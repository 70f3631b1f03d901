# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten merges two calls of which one returns float32, the other bool"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "dtype"]]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, _check_graph_equivalence"
# ///
"""A flag that reaches through two levels: where eager gives a bool tensor, unflatten gives float32.

The two graphs of `outer` differ in nothing but the target of their call_module node, `inner` and `inner@1`,
which _check_graph_equivalence does not compare. The cause is that of
unflatten_merges_calls_of_other_variants.
"""

import sys
import warnings

import torch
from torch import nn


class Inner(nn.Module):
    def forward(self, x, flag):
        return x + 1 if flag else x > 0


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
    bug = expected.dtype != seen.dtype
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {seen}")
    sys.exit(bug)

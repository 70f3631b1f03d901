# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten merges two calls with float32 and bfloat16, and the second fails an assertion"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "run", "RuntimeError", "Tensor dtype mismatch Expected Float Got"],
# ]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, _check_graph_equivalence"
# ///
"""A module that casts to bfloat16 is called with float32, then with what it returned: unflatten raises.

As in unflatten_merges_calls_of_other_input_dtypes, of which this differs in the dtype that the message names;
the cause is that of unflatten_merges_calls_of_other_variants.
"""

import sys
import warnings

import torch
from torch import nn


class Inner(nn.Module):
    def forward(self, x):
        return x.bfloat16()


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return self.inner(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.outer = Outer()

    def forward(self, x):
        return self.outer(self.outer(x))


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    expected = model(*args)
    unflattened = torch.export.unflatten(torch.export.export(model, args, strict=False))
    try:
        seen = unflattened(*args)
    except RuntimeError as error:
        seen = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    bug = not (isinstance(seen, torch.Tensor) and torch.equal(expected, seen))
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {seen}")
    sys.exit(bug)

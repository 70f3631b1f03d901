# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten merges two calls with inputs of other dtypes, and the second fails an assertion"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "run", "RuntimeError", "Tensor dtype mismatch Expected Got"],
# ]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, _check_graph_equivalence"
# ///
"""A module that casts is called with float32, then with int64: eager casts, unflatten raises.

Export puts an assertion of the input's dtype before each `to`, so that `inner` gets two graphs. Those of
`outer` differ in nothing but which of the two they call, which _check_graph_equivalence does not compare. The
cause is that of unflatten_merges_calls_of_other_variants; here not even a flag is needed.
"""

import sys
import warnings

import torch
from torch import nn


class Inner(nn.Module):
    def forward(self, x):
        return x.long()


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

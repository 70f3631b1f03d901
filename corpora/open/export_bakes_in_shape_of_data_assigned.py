# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "after an assignment to .data the program reshapes the old tensor, and fails on its own example"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError", "shape is invalid for input of size"]]
# affected = "2.13.0"
# at-fault = "torch/fx/experimental/proxy_tensor.py, PreDispatchTorchFunctionMode: Tensor.data.__set__"
# ///
"""`y.data = x[:1]` gives `y` one element; the program reshapes a `y` that still has two to that size.

The setter changes the fake tensor, and so the sizes that are written into the graph, but its proxy still
stands for the old tensor. The cause is that of export_ignores_assignment_to_data; this shows it where the
program cannot run at all.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        y = x + 1
        y.data = x[:1]
        return y.reshape(1, 1)


def make():
    return Model(), (torch.ones(2),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    expected = model(*args)
    program = torch.export.export(model, args, strict=False).module()
    try:
        seen = program(*args)
    except RuntimeError as error:
        seen = str(error)
    bug = not (isinstance(seen, torch.Tensor) and torch.equal(expected, seen))
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {seen}")
    sys.exit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.cond after a submodule: unflatten splits it, and gives an out= operator another tensor"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "run",
#         "RuntimeError",
#         "functions with out arguments don support automatic differentiation",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/_export/utils.py, sequential_split (torch/fx/passes/split_module.py, split_module)"
# ///
"""`neg` is to get what the no_grad region gives; the unflattened module gives it `x`, which requires grad.

split_module moves the branches of torch.cond, as every get_attr node, to the front of their piece, before
`zeros` and `neg` of `child`. unflatten makes two modules of what is left of `child`, of which the second
replaces the first and takes for its input what is passed to the first. The cause is that of
unflatten_splits_module_with_branches.
"""

import sys
import warnings

import torch
from torch import nn


class Child(nn.Module):
    def forward(self, x):
        with torch.no_grad():
            x = x * 2
        return torch.neg(x, out=torch.zeros(1))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        x = self.child(x)
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))


def make():
    return Model(), (torch.ones(1, requires_grad=True),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    expected = model(*args)
    try:
        seen = torch.export.unflatten(torch.export.export(model, args, strict=False))(*args)
    except RuntimeError as error:
        seen = str(error).splitlines()[0]
    bug = not (isinstance(seen, torch.Tensor) and torch.equal(expected, seen))
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {seen}")
    sys.exit(bug)

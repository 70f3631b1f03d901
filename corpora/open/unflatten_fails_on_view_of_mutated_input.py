# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten fails on a decomposed program that returns a view of a mutated input"
# path = "nonstrict+decompose:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs", "crash", "lower", "ValueError", "unflatten.py:unflatten", "unflatten.py:__init__",
#         "unflatten.py:_fix_nn_module_stacks",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, _fix_nn_module_stacks: prev_fqn, *next_fqns = fqns"
# ///
"""A decomposed program that returns a view of an input that it writes to cannot be unflattened.

Functionalization takes the view anew, of the input's new value, once forward() is over: that node belongs to
no module, its nn_module_stack is empty. _fix_nn_module_stacks takes the first entry of each stack.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        y = x[0]
        x.relu_()
        return y


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    ep = torch.export.export(model, args, strict=False).run_decompositions()
    try:
        torch.export.unflatten(ep)
        seen = "nothing"
    except Exception as error:
        seen = f"{type(error).__name__}: {error}"
    bug = seen.startswith("ValueError")
    print(f"{'BUG' if bug else 'ok'}: unflatten raises {seen}")
    sys.exit(bug)

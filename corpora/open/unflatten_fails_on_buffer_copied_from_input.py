# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten fails on a decomposed program that copies an input into a buffer"
# path = "nonstrict+decompose:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs", "crash", "lower", "RuntimeError", "unflatten.py:_outline_submodules",
#         "unflatten.py:run_outer", "unflatten.py:run_from",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, _inplace_buffer_and_input_mutations"
# ///
"""A decomposed program that copies an input into a buffer cannot be unflattened.

What is written back is the placeholder of x itself. For that unflatten inserts a copy_ after the
placeholder, which gets its metadata: a placeholder has no nn_module_stack, and no node that calls operators
may lack one.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("buf", torch.zeros(1))

    def forward(self, x):
        self.buf.copy_(x)
        return x + 1


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
    bug = seen.startswith("RuntimeError")
    print(f"{'BUG' if bug else 'ok'}: unflatten raises {seen}")
    sys.exit(bug)

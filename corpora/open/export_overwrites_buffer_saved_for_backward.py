# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "a buffer read before it is assigned leaves the exported program without a backward pass"
# path = "nonstrict:module@cpu"
# check = "gradients"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "gradients",
#         "crash",
#         "backward",
#         "run",
#         "RuntimeError",
#         "__init__.py:grad",
#         "graph.py:_engine_run_backward",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/export/_trace.py, _make_fx_helper: aten.copy_ for every assigned buffer"
# ///
"""A running state scales the output and is assigned anew: eager trains, the exported program cannot.

Assigning a buffer in eager leaves the old tensor alone. The exported program writes into it, by a copy_ at
the end of its graph, and autograd, which has saved the tensor for the product's backward pass, finds it
modified. The cause is that of export_overwrites_what_a_buffer_was.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))
        self.register_buffer("state", torch.ones(1))

    def forward(self, x):
        y = self.weight * self.state
        self.state = self.state + x
        return y


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    model(*args).backward()
    model, args = make()
    program = torch.export.export(model, args, strict=False).module()
    try:
        program(*args).backward()
        seen = "nothing"
    except Exception as error:
        seen = f"{type(error).__name__}: {error}"
    bug = seen.startswith("RuntimeError")
    print(f"{'BUG' if bug else 'ok'}: eager's backward raises nothing, the program's raises {seen[:120]}")
    sys.exit(bug)

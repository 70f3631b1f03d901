# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "assigning a tensor constant to a buffer fails an assertion in a hook"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "AssertionError",
#         "_symbolic_trace.py:call_module",
#         "_symbolic_trace.py:forward",
#         "utils.py:_map_assigned_buffer_to_proxy",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/_functorch/_aot_autograd/utils.py, _map_assigned_buffer_to_proxy: asserts FakeTensor"
# ///
"""`self.state = self.initial`, to reset a buffer to a tensor that is a plain attribute, is not traced.

The hook that notes which graph node a buffer was assigned from wants a FakeTensor. Non-strict export
makes parameters, buffers and inputs fake, but no constants, so an internal assertion fails instead.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.initial = torch.zeros(1)
        self.register_buffer("state", torch.ones(1))

    def forward(self, x):
        self.state = self.initial
        return x + 1


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    model(*args)
    model, args = make()
    try:
        torch.export.export(model, args, strict=False)
        seen = "nothing"
    except Exception as error:
        seen = f"{type(error).__name__}: {error}"
    bug = seen.startswith("AssertionError")
    print(f"{'BUG' if bug else 'ok'}: eager raises nothing, export raises {seen[:120]}")
    sys.exit(bug)

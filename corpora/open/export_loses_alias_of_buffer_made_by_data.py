# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "an input that is made an alias of a buffer by an assignment to .data stays apart"
# path = "nonstrict:module@cpu"
# check = "aliasing"
# kind = "mismatch"
# status = "open"
# signatures = [["aliasing", "mismatch", "no-longer-shared", "buffer", "input", "output"]]
# affected = "2.13.0"
# at-fault = "torch/fx/experimental/proxy_tensor.py, PreDispatchTorchFunctionMode: Tensor.data.__set__"
# ///
"""`x.data = self.state` puts the caller's tensor into the memory of the buffer; the program does not.

As in export_loses_alias_made_by_data.py: the setter dispatches no operator, and as the values are equal
beforehand, nothing shows until somebody writes to the output.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.ones(1))

    def forward(self, x):
        x.data = self.state
        return x


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    program = torch.export.export(*make(), strict=False).module()
    model(*args).zero_()
    program(*make()[1]).zero_()
    expected, seen = model.state, program.state
    bug = not torch.equal(expected, seen)
    print(f"{'BUG' if bug else 'ok'}: the output zeroed, state is {expected} in eager, {seen} after export")
    sys.exit(bug)

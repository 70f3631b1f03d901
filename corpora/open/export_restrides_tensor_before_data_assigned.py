# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "after an assignment to .data the program gives the old tensor sizes that it has no memory for"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "run",
#         "RuntimeError",
#         "setStorage sizes strides storage offset and itemsize requiring",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/fx/experimental/proxy_tensor.py, PreDispatchTorchFunctionMode: Tensor.data.__set__"
# ///
"""`y.data = x` gives `y` room for four numbers; the program restrides a `y` that has room for one.

The setter changes the fake tensor, which has that memory, but its proxy still stands for the old tensor.
The cause is that of export_ignores_assignment_to_data; here the program cannot run at all.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        y = x.sum() + torch.ones(1)
        y.data = x
        return y.as_strided_((2, 1), (1, 1))


def make():
    return Model(), (torch.ones(2, 2),)


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

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "export fails on an update by a number of a constant whose .data was assigned"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "RuntimeError",
#         "DispatchStub unsupported device typemeta",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/export/_trace.py, _export_to_aten_ir_make_fx: constants are not made fake"
# ///
"""All is on the CPU, and export says "DispatchStub: unsupported device typemeta".

Assigning the fake input to the .data of a constant, which is not fake, makes it a meta tensor. No operand of
the update is fake, so that FakeTensorMode computes it for real, and on a meta tensor no kernel can. With a
buffer in place of `k` nothing is raised. The cause is that of export_turns_constant_into_meta_tensor.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = torch.zeros(1)

    def forward(self, x):
        self.k.data = x
        self.k.add_(1)
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
        seen = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    bug = "DispatchStub" in seen
    print(f"{'BUG' if bug else 'ok'}: eager raises nothing, export raises {seen[:120]}")
    sys.exit(bug)

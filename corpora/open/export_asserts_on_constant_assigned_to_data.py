# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "after a constant was assigned to the .data of an input, a view of it fails an assertion"
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
#         "_pytree.py:unflatten",
#         "fake_tensor.py:wrap",
#         "fake_tensor.py:from_meta_and_device",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/export/_trace.py, _export_to_aten_ir_make_fx: constants are not made fake"
# ///
"""A view of an input whose .data was assigned: "tensor's device must be `meta`, got cpu instead".

`k` is a plain attribute, which export does not make fake: assigning it to the .data of the fake input puts
memory on the CPU below a FakeTensor, and its views are on the CPU as well. The cause is that of
export_fails_on_constant_assigned_to_data. A buffer in place of `k` works.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = torch.ones(1)

    def forward(self, x):
        x.data = self.k
        return x.view(1, 1)


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

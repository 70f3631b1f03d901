# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "after a constant was assigned to the .data of an input, an update of it fails an assertion"
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
#         "proxy_tensor.py:snapshot_fake",
#         "fake_impls.py:fast_detach",
#         "fake_tensor.py:__new__",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/export/_trace.py, _export_to_aten_ir_make_fx: constants are not made fake"
# ///
"""An input whose .data was assigned is updated: "elem.device.type must be 'meta', got cpu".

`k` is a plain attribute, which export does not make fake: assigning it to the .data of the fake input puts
memory on the CPU below a FakeTensor. The update returns that FakeTensor, and the copy of it that is to be
recorded with the node cannot be made. A buffer in place of `k` works. The cause is that of
export_fails_on_constant_assigned_to_data.
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
        x.add_(1)
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
    bug = seen.startswith("AssertionError")
    print(f"{'BUG' if bug else 'ok'}: eager raises nothing, export raises {seen[:120]}")
    sys.exit(bug)

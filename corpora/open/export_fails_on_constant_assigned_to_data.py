# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "after a constant was assigned to the .data of an input, export fails where the input is broadcast"
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
#         "custom_ops.py:fake_impl",
#         "__init__.py:_prim_elementwise_meta",
#         "__init__.py:check_same_device",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/export/_trace.py, _export_to_aten_ir_make_fx: constants are not made fake"
# ///
"""All is on the CPU, and export says that a tensor on meta is not on the expected device cpu.

`k` is a plain attribute, which export does not make fake: assigning it to the .data of the fake input puts
memory on the CPU below a FakeTensor, which has to be on the meta device. To broadcast it, a fake kernel makes
a view of it, which shows that device. A buffer in place of `k` works. The cause is that of
export_fails_on_constant_turned_meta, where the assignment goes the other way.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = torch.ones(1)

    def forward(self, x, y):
        x.data = self.k
        return torch.minimum(x, y)


def make():
    return Model(), (torch.ones(1), torch.ones(2))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    expected = model(*args)
    model, args = make()
    try:
        seen = torch.export.export(model, args, strict=False).module()(*args)
    except RuntimeError as error:
        seen = str(error).splitlines()[0]
    bug = "expected device" in str(seen)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, export {seen}")
    sys.exit(bug)

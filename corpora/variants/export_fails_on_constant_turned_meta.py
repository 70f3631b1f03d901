# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "export fails on a new tensor made on the device of a constant whose .data was assigned"
# variant-of = "export_updates_constants_for_real"
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
#         "fake_tensor.py:_dispatch_impl",
#         "__init__.py:_prim_elementwise_meta",
#         "__init__.py:check_same_device",
#     ],
# ]
# fix = "refuse_to_replace_constants"
# upstream = ""
# at-fault = "torch/export/_trace.py, _export_to_aten_ir_make_fx: constants are not made fake"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""All is on the CPU, and export says that a tensor on meta is not on the expected device cpu.

Assigning the fake input to the .data of a constant, which is not fake, makes it a meta tensor. From then on
`k.device` is meta, and what is made there meets what is on the CPU.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        self.k.data = x
        return torch.minimum(x, torch.ones(x.shape, device=self.k.device))


def make():
    model = Model()
    model.k = torch.zeros(2)
    return model, (torch.ones(2),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.DYNAMIC}}


def show():
    model, args = make()
    torch.export.export(model, args, dynamic_shapes=dynamic_shapes())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        bug = "device" in str(error)
        print(f"{'BUG' if bug else 'ok'}: eager raises nothing, export raises {error!r:.100}")
        raise SystemExit(bug) from None
    print("ok: neither eager nor export raises")

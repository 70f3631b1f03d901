# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "export fails on an update by a number of a constant whose .data was assigned"
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
#         "DispatchStub unsupported device typemeta",
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
"""All is on the CPU, and export says "DispatchStub: unsupported device typemeta".

Assigning the fake input to the .data of a constant, which is not fake, makes it a meta tensor. No operand of
the update is fake, so that FakeTensorMode computes it for real, and on a meta tensor no kernel can.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        self.k.data = x
        return x + self.k.add_(1)


def make():
    model = Model()
    model.k = torch.zeros(1)
    return model, (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        bug = "DispatchStub" in str(error)
        print(f"{'BUG' if bug else 'ok'}: eager raises nothing, export raises {error!r:.100}")
        raise SystemExit(bug) from None
    print("ok: neither eager nor export raises")

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: device error for x.data = self.k and a broadcast of x, if k is a plain attribute"
# variant-of = "export_ignores_assignment_to_data"
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
# fix = "record_assignment_to_data"
# upstream = ""
# at-fault = "torch/fx/experimental/proxy_tensor.py, PreDispatchTorchFunctionMode: Tensor.data.__set__"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward assigns a plain tensor attribute to `x.data` and broadcasts x. Export says that a tensor is on meta
instead of cpu.

Non-strict export does not make plain attributes fake. The assignment, which is not recorded, puts CPU memory
into the fake x. A fake kernel makes a view of it, which shows the wrong device.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, y):
        x.data = self.k
        return torch.minimum(x, y)


def make():
    model = Model()
    model.k = torch.zeros(1)
    return model, (torch.ones(1), torch.ones(2))


def show():
    model, args = make()
    torch.export.export(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "Tensor on device meta is not on the expected device cpu!" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error}")
    print("ok: neither eager nor export raises")

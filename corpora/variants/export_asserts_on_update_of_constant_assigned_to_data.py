# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "after a constant was assigned to the .data of an input, an update of it fails an assertion"
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
#         "AssertionError",
#         "proxy_tensor.py:snapshot_fake",
#         "fake_impls.py:fast_detach",
#         "fake_tensor.py:__new__",
#     ],
# ]
# fix = "record_assignment_to_data"
# upstream = ""
# at-fault = "torch/fx/experimental/proxy_tensor.py, PreDispatchTorchFunctionMode: Tensor.data.__set__"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""An input whose .data was assigned is updated: "elem.device.type must be 'meta', got cpu".

`k` is a plain attribute, which export does not make fake: assigning it to the .data of the fake input puts
memory on the CPU below a FakeTensor. The update returns that FakeTensor, and the copy of it that is to be
recorded with the node cannot be made.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        x.data = self.k
        return x.add_(1)


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
    except AssertionError as error:
        if "elem.device.type must be" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error}")
    print("ok: neither eager nor export raises")

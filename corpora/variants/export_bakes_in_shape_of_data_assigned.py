# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: the program raises for y.data = x and y.reshape, because it reshapes the old y"
# variant-of = "export_ignores_assignment_to_data"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError", "shape is invalid for input of size"]]
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
"""After `y.data = x[:1]`, y has one element, and `y.reshape(1, 1)` works. The program reshapes the old y,
which has two, and raises.

The setter of Tensor.data works in C++ and calls no operator, so that export does not record it. The graph
goes on with the old y, but with sizes of the new one. Export should record or refuse the assignment.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        y = x + 1
        y.data = x[:1]
        return y.reshape(1, 1)


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=False).module()
    model(*args)
    return model(*args), program(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, the exported program raises {error}")
    print(f"ok: eager gives {expected}, the exported program {got}")

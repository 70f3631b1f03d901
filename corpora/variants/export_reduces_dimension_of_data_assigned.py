# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "after an assignment to .data the program reduces a dimension that the old tensor does not have"
# variant-of = "export_ignores_assignment_to_data"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "run", "IndexError", "Dimension out of range expected to be in"],
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
"""`y.data = x` gives `y` two dimensions; the program reduces the second of a `y` that has none.

The setter changes the fake tensor, which has that dimension, but its proxy still stands for the old tensor.
The program cannot run at all.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        y = x.sum()
        y.data = x
        return y.amax(1)


def make():
    return Model(), (torch.ones(2, 2),)


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
    except IndexError as error:
        sys.exit(f"BUG: eager raises nothing, the exported program raises {error}")
    print(f"ok: eager gives {expected}, the exported program {got}")

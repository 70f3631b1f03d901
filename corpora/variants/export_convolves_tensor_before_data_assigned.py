# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "after an assignment to .data the program convolves the old tensor, which has other channels"
# variant-of = "export_ignores_assignment_to_data"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError", "Given groups weight of size expected to have"]]
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
"""`y.data = x[:1]` gives `y` the one channel that the weight is for; the program passes a `y` of two.

The setter changes the fake tensor and calls no operator, so that export accepts the convolution, but the
proxy of `y` still stands for the old tensor: the program fails on its own example.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        y = x + 1
        y.data = x[:1]
        return torch.nn.functional.conv1d(y, torch.ones(1, 1, 1))


def make():
    return Model(), (torch.ones(2, 1),)


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

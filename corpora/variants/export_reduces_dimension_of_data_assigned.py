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
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/fx/experimental/proxy_tensor.py, PreDispatchTorchFunctionMode: Tensor.data.__set__"
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


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    program = torch.export.export(model, args, strict=False).module()
    try:
        print(f"ok: eager gives {model(*args)}, the exported program {program(*args)}")
    except IndexError as error:
        print(f"BUG: eager gives {model(*args)}, the exported program raises {error}")
        sys.exit(1)

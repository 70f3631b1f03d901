# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "after an assignment to .data the program splits the old tensor, which gives fewer parts"
# variant-of = "export_ignores_assignment_to_data"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "IndexError", "list index out of range"]]
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
"""`y.data = x` gives `y` two elements, and so two chunks; the program splits a `y` of one, into one.

The setter changes the fake tensor and calls no operator, so that export unpacks two chunks, but the proxy of
`y` still stands for the old tensor: the program fails on its own example.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        y = x[:1] + 1
        y.data = x
        return y.chunk(2)[1]


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
    except IndexError as error:
        sys.exit(f"BUG: eager raises nothing, the exported program raises {error!r:.45}")
    print(f"ok: eager gives {expected}, the exported program {got}")

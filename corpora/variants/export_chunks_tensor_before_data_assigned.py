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
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/fx/experimental/proxy_tensor.py, PreDispatchTorchFunctionMode: Tensor.data.__set__"
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


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    program = torch.export.export(model, args, strict=False).module()
    try:
        print(f"ok: eager gives {model(*args)}, the exported program {program(*args)}")
    except IndexError as error:
        print(f"BUG: eager gives {model(*args)}, the exported program raises {error!r:.45}")
        sys.exit(1)

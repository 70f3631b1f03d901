# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "non-strict export leaves an assignment to the .data of an input out of the graph"
# variant-of = "export_ignores_assignment_to_data"
# path = "nonstrict:module@cpu"
# check = "inputs"
# kind = "mismatch"
# status = "open"
# signatures = [["inputs", "mismatch", "shape"]]
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
"""`x.data = y` gives the caller's tensor two elements in eager; the exported program leaves it alone.

The setter changes the fake tensor from C++ and calls no operator that would say so.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, y):
        x.data = y
        return y + 1


def make():
    return Model(), (torch.zeros(1), torch.zeros(2))


def show():
    model, args = make()
    program = torch.export.export(model, make()[1], strict=False).module()
    program(*args)
    return len(args[1]), len(args[0])


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: x has {expected} elements after eager, {got} after the program")
    raise SystemExit(bug)

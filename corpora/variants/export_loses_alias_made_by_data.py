# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: after y.data = z, y and z share memory in eager, and not in the program"
# variant-of = "export_ignores_assignment_to_data"
# path = "nonstrict:module@cpu"
# check = "aliasing"
# kind = "mismatch"
# status = "open"
# signatures = [["aliasing", "mismatch", "no-longer-shared", "output"]]
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
"""After `y.data = z`, the two results share memory, so that a write to z changes y. In the program it does
not.

The setter of Tensor.data works in C++ and calls no operator, so that export records nothing. It should record
or refuse it.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        y, z = x + 1, x + 1
        y.data = z
        return y, z


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    y, z = torch.export.export(model, args, strict=False).module()(*args)
    z.zero_()
    return y, z


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: z.zero_() makes y zero in eager, after export y is {expected}")
    raise SystemExit(bug)

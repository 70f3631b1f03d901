# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: x.data = y for an input x is not recorded, without a warning"
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
"""The model assigns `x.data = y`, which gives the caller's tensor two elements. After a call of the program
it still has one.

The setter of Tensor.data works in C++ and calls no operator, so that export records nothing. It should record
or refuse it.
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

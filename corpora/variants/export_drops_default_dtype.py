# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: torch.set_default_dtype in forward has no effect in the program"
# variant-of = "export_forgets_default_dtype"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "dtype"]]
# fix = "record_dtype_of_new_tensors"
# upstream = ""
# at-fault = "torch/fx/experimental/proxy_tensor.py, proxy_call"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward sets the default dtype to float64 and makes a grid. The program makes the grid in float32.

Export records `linspace` without a dtype, so that the default dtype of the caller decides when the program
runs. `set_default_dtype` is not recorded. Export should record the dtype.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        torch.set_default_dtype(torch.float64)
        grid = torch.linspace(0, 1, 3)  # first difference
        torch.set_default_dtype(torch.float32)
        return x + grid


def make():
    return Model(), (torch.ones(3),)


def show():
    model, args = make()
    program = torch.export.export(model, args).module()
    return model(*args).dtype, program(*args).dtype


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the result has dtype {expected} in eager, {got} after export")
    raise SystemExit(bug)

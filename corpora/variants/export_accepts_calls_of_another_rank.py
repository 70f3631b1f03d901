# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module() accepts an input with one more dimension, and runs the wrong branch"
# variant-of = "export_accepts_a_tensor_for_none"
# path = "nonstrict:module@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "accepted", "rank"]]
# fix = "guard_number_of_dimensions"
# upstream = ""
# at-fault = "torch/export/_unlift.py, _get_input_guards_for_graph: sizes alone are guarded"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model multiplies by the number of dimensions: by 2 where `ep.module()` multiplies by 1, as exported.

The guards speak of `x.size()[0]` alone, which a matrix of one row has as well. The older check in
torch/_export/utils.py (`_check_input_constraints_for_graph`) compares the number of dimensions, and unflatten
still does.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x * x.dim()


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    program = torch.export.export(model, args).module()
    x = torch.ones(1, 1)
    return model(x), program(x)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AssertionError as error:
        print(f"ok: eager raises nothing, the exported program {error}")
        raise SystemExit(0) from None
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {got}")
    raise SystemExit(bug)

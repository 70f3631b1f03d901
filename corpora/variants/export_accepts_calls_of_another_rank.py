# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module() accepts an input with one dimension more, and takes the wrong branch"
# variant-of = "export_accepts_a_tensor_for_none"
# path = "nonstrict:module@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "accepted", "rank"]]
# fix = "guard_number_of_dimensions"
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# upstream = ""
# at-fault = "torch/export/_unlift.py, _get_input_guards_for_graph: sizes alone are guarded"
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


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    program = torch.export.export(model, args).module()
    x = torch.ones(1, 1)
    try:
        seen = program(x)
    except AssertionError as error:
        seen = error
    bug = torch.is_tensor(seen) and not torch.equal(model(x), seen)
    print(f"{'BUG' if bug else 'ok'}: eager gives {model(x)}, the exported program {seen}")
    raise SystemExit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "run_decompositions: a write to windows of unfold makes a dynamic size static"
# variant-of = "decompose_zeroes_what_windows_leave_out"
# path = "nonstrict+decompose:module@cpu"
# check = "guards"
# kind = "crash"
# status = "open"
# signatures = [["guards", "crash", "refused", "size", "probe"]]
# fix = "windows_are_written_as_blocks"
# upstream = "https://github.com/pytorch/pytorch/issues/198102"
# upstream-match = "place"
# at-fault = "aten/src/ATen/FunctionalInverses.cpp, unfold_inverse: base.sizes()"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The number of rows is dynamic. After run_decompositions, the program accepts only the number of its
example.

Functionalization replaces a write to `x.unfold(...)` by the inverse of unfold. `unfold_inverse` reads the
sizes with `base.sizes()`, as numbers, which fixes them. It should use `sym_sizes()`.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        x = x.clone()
        x.unfold(1, 2, 2).fill_(2)
        return x


def make():
    return Model(), (torch.ones(3, 4),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("rows")}}


def probes():
    return [((torch.ones(5, 4),), {})]


def show():
    model, args = make()
    exported = torch.export.export(model, args, dynamic_shapes=dynamic_shapes())
    decomposed = exported.run_decompositions().module()
    decomposed(*probes()[0][0])


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        sys.exit(f"BUG: {error}")
    print("ok: the decomposed program takes five rows")

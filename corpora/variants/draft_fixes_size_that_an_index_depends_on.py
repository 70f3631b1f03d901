# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "draft_export: makes a dynamic size static if the model reads x[-1]"
# variant-of = "draft_fails_on_boolean_mask_of_two_dimensions"
# path = "draft:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "AssertionError", "probe"]]
# undetected-because = "draft_export reports the guard itself; then nothing is judged"
# fix = "draft_export_compares_no_symbolic_offsets"
# upstream = ""
# at-fault = "torch/_subclasses/fake_utils.py, _check_fake_real_tensors: r_offset != f_offset"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model reads `x[-1]`, where x has a dynamic length. The program of draft_export accepts only the length
of the example.

`x[-1]` has a symbolic storage offset. draft_export compares it with the offset of the real tensor (`r_offset
!= f_offset`). This makes a guard that fixes the length. torch.export accepts all lengths.
"""

import sys

import torch
from torch.export import Dim


class Model(torch.nn.Module):
    def forward(self, x):
        return x[-1] + 1


def make():
    return Model(), (torch.ones(3, 2),)


def dynamic_shapes():
    return {"x": {0: Dim.DYNAMIC}}


def probes():
    return [((torch.ones(4, 2),), {})]


def show():
    model, args = make()
    exported = torch.export.export(model, args, dynamic_shapes=dynamic_shapes())
    drafted = torch.export.draft_export(model, args, dynamic_shapes=dynamic_shapes())
    return len(exported.range_constraints), len(drafted.range_constraints)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: {expected} dynamic size by export, {got} by draft_export")
    raise SystemExit(bug)

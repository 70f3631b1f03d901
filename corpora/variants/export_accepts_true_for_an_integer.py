# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module() accepts True for the integer 1 that it was exported with, and returns 1"
# variant-of = "export_accepts_a_float_for_an_integer"
# path = "nonstrict:module@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "accepted", "bool"]]
# fix = "guard_types_of_numbers"
# undetected-because = "the checks report that the program takes 1.0 for 1, and this as a consequence"
# upstream = ""
# at-fault = "torch/export/_unlift.py, _get_input_guards_for_graph: compares the value, not the type"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Eager returns the True that it is called with; the exported program returns 1.

True is equal to 1, so that the guard on the value lets it pass.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, n):
        return x + 1, n


def make():
    return Model(), (torch.ones(1), 1)


def show():
    model, (x, n) = make()
    program = torch.export.export(model, (x, n)).module()
    return model(x, True)[1], program(x, True)[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AssertionError as error:
        print(f"ok: the exported program refuses True: {error}")
        raise SystemExit(0) from None
    bug = expected is not got
    print(f"{'BUG' if bug else 'ok'}: eager returns {expected}, the exported program {got}")
    raise SystemExit(bug)

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
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# undetected-because = "the checks report that the program takes 1.0 for 1, and this as a consequence"
# upstream = ""
# at-fault = "torch/export/_unlift.py, _get_input_guards_for_graph: compares the value, not the type"
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


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, (x, n) = make()
    program = torch.export.export(model, (x, n)).module()
    try:
        seen = program(x, True)[1]
    except AssertionError as error:
        seen = error
    bug = isinstance(seen, int) and not isinstance(seen, bool)
    print(f"{'BUG' if bug else 'ok'}: eager returns {model(x, True)[1]}, the exported program {seen}")
    raise SystemExit(bug)

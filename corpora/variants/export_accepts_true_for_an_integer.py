# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module(): accepts True for an integer argument that was 1, and returns 1"
# variant-of = "export_accepts_a_float_for_an_integer"
# path = "nonstrict:module@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "accepted", "bool"]]
# undetected-because = "the checks report that the program takes 1.0 for 1, and this as a consequence"
# fix = "guard_types_of_numbers"
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
"""The model returns its argument n. Called with True, eager returns True. The program, exported with 1,
accepts it and returns 1.

Export fixes the value and the type of a number. The guard is `n == 1`, which is true of True.
`_get_input_guards_for_graph` should guard the type as well.
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

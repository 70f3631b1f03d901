# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD071"
# title = "ep.module(): accepts 2.0 for an integer argument that was 2, and computes with the integer"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a factor is given as 2.0 where the example was 2, and the tensor has an integer dtype"
# topics = ["arguments"]
# cause = """
# Export specializes on the value and the type of a number. But the guard is `n == 2`, also true for 2.0.
# `_get_input_guards_for_graph` should guard the type as well, as the check of inputs in unflatten does."""
# path = "nonstrict:module@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "accepted", "float"]]
# fix = "guard_types_of_numbers"
# upstream = "https://github.com/pytorch/pytorch/pull/180399"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_unlift.py, _get_input_guards_for_graph: compares the value, not the type"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Called with 2.0, eager makes floats of a uint8 image and returns 400. The program, exported with 2, accepts
2.0, stays in uint8 and returns 144.

Export specializes on the value and the type of a number. But the guard is `n == 2`, also true for 2.0.
`_get_input_guards_for_graph` should guard the type as well, as the check of inputs in unflatten does.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, n):
        return x * n


def make():
    return Model(), (torch.tensor([200], dtype=torch.uint8), 2)


def show():
    model, (x, n) = make()
    program = torch.export.export(model, (x, n)).module()
    return model(x, 2.0), program(x, 2.0)


def workaround_call(module, x, n):
    """Check the type of the number before the call."""
    if not isinstance(n, int):
        raise TypeError(f"n is {n!r}, and the program is for an integer")
    return module(x, n)


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

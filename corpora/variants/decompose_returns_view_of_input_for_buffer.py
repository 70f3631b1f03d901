# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "run_decompositions: a slice of a buffer filled by copy_ is a view of the input instead"
# variant-of = "decompose_returns_buffer_for_its_source"
# path = "nonstrict+decompose:module@cpu"
# check = "aliasing"
# kind = "mismatch"
# status = "open"
# signatures = [["aliasing", "mismatch", "became-shared", "input", "output"]]
# fix = "copies_of_outputs_stay"
# upstream = ""
# at-fault = "torch/export/exported_program.py, _remove_unnecessary_copy_op_pass: replace_all_uses_with"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward copies its input into a buffer, and returns a slice of the buffer. Decomposed, it returns a slice
of the input: a write to the result changes the caller's tensor.

`_remove_unnecessary_copy_op_pass` replaces the copy by the input, also where the result is a view of it. The
pass should leave the copy if a view of it is returned.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.zeros(3))

    def forward(self, x):
        self.cache.copy_(x)  # first difference
        return self.cache[1:]


def make():
    return Model(), (torch.ones(3),)


def show():
    model, _ = make()
    program = torch.export.export(*make()).run_decompositions().module()
    ours, theirs = torch.ones(3), torch.ones(3)
    model(ours).add_(1)
    program(theirs).add_(1)
    return ours, theirs


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(
        f"{'BUG' if bug else 'ok'}: after a write to the result, the input is {expected} in eager, {got} here"
    )
    raise SystemExit(bug)

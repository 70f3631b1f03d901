# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten after run_decompositions: the next call overwrites a returned view"
# variant-of = "decompose_returns_buffer_for_its_source"
# path = "nonstrict+decompose:unflatten@cpu"
# check = "aliasing"
# kind = "mismatch"
# status = "open"
# signatures = [["aliasing", "mismatch", "became-shared", "buffer", "output"]]
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
"""`self.last.copy_(y); return y.view(-1)`: after run_decompositions and unflatten, the next call overwrites
the result.

`_remove_unnecessary_copy_op_pass` drops the copy, so that y itself is the new value of the buffer. unflatten
lets all nodes that read the new value read the buffer, so that the result is a view of it. The pass should
leave the copy if a view of its source is returned.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        y = x + 1
        self.last.copy_(y)
        return y.view(-1)


def make():
    model = Model()
    model.register_buffer("last", torch.zeros(2))
    return model, (torch.ones(2),)


def show():
    model, args = make()
    program = torch.export.unflatten(torch.export.export(model, args).run_decompositions())
    expected, got = model(*args), program(*args)
    model(torch.zeros(2))
    program(torch.zeros(2))
    return expected, got


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(
        f"{'BUG' if bug else 'ok'}: after a second call, the first result is {expected} in eager, here {got}"
    )
    raise SystemExit(bug)

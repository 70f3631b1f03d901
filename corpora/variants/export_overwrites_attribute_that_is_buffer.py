# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module(): assigning a buffer also changes a plain attribute that was the same tensor"
# variant-of = "export_overwrites_other_name_of_buffer"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# fix = "refuse_assignment_of_shared_buffers"
# upstream = ""
# at-fault = "torch/export/_trace.py, _export_to_aten_ir_make_fx: copies into the memory of the buffer"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The attribute `start` and the buffer `count` are one tensor at first. `self.count = self.count + 1` changes
only `count` in eager, and both in the program: its second result is wrong.

In eager, the assignment gives `count` another tensor. The exported program copies the new value into the old
memory, which is that of `start` too. Export should refuse such a model.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(2))
        self.start = self.count

    def forward(self, x):
        self.count = self.count + 1  # first difference
        return x + self.start


def make():
    return Model(), (torch.zeros(2),)


def show():
    model, args = make()
    program = torch.export.export(make()[0], args).module()
    model(*args)
    program(*args)
    return model(*args), program(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except torch._dynamo.exc.UserError as error:
        print("ok: torch refuses in words:", str(error).partition("\n")[0])
        raise SystemExit(0) from None
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the second call gives {expected} in eager, {got} in the program")
    raise SystemExit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD304"
# title = "ep.module(): assigning a buffer also changes the other name that the tensor has"
# harm = "wrong later"
# reach = "contrived"
# reach-because = "one tensor under two names as buffers, of which forward assigns one"
# topics = ["buffers", "tied-weights"]
# cause = """
# In eager, the assignment gives `count` another tensor, and `start` stays 0. The exported program copies the
# new value into the old memory, so that `start` becomes 1. From the second call on, the results are wrong as
# well. An exported program cannot separate the two names, so that export should refuse the model."""
# path = "nonstrict:module@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "value", "buffer"]]
# fix = "refuse_assignment_of_shared_buffers"
# upstream = ""
# at-fault = "torch/export/_trace.py, _make_fx_helper: copy_ into memory that other state has, too"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`start` and `count` are one tensor. `self.count = self.count + 1` changes only `count` in eager, but both
in the program.

In eager, the assignment gives `count` another tensor, and `start` stays 0. The exported program copies the
new value into the old memory, so that `start` becomes 1. From the second call on, the results are wrong as
well. An exported program cannot separate the two names, so that export should refuse the model.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))
        self.register_buffer("start", self.count)

    def forward(self, x):
        self.count = self.count + 1  # first difference
        return x + self.start


def make():
    return Model(), (torch.zeros(1),)


def show():
    model, args = make()
    program = torch.export.export(*make(), strict=False).module()
    program(*args)
    model(*args)
    return model.start, program.start


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except torch._dynamo.exc.UserError as error:
        print(f"ok: the exported program refuses the call: {error}")
        raise SystemExit(0) from None
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager leaves {expected} in start, the exported program {got}")
    raise SystemExit(bug)

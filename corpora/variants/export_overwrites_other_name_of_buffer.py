# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "a buffer of two names is assigned: in the exported program both change"
# variant-of = "export_overwrites_what_a_buffer_was"
# path = "nonstrict:module@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "value", "buffer"]]
# fix = "refuse_assignment_of_shared_buffers"
# upstream = ""
# at-fault = "torch/export/_trace.py, _make_fx_helper: aten.copy_ into memory that other state has too"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`start` is the tensor that `count` is at first: eager leaves 0 in it, the exported program 1.

In eager the assignment gives `count` another tensor. Export ends the graph with a copy_ into the old one,
whatever else has its memory, here another name. What is read from `start` is wrong from the second call on.
No program can part what the model holds, so that it is to be refused.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))
        self.register_buffer("start", self.count)

    def forward(self, x):
        self.count = self.count + 1
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

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD127"
# title = "torch.export: self.hidden = self.hidden.detach() leaves the buffer its gradient history"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a recurrent state in a buffer, truncated by detach(), and trained after export"
# topics = ["no-grad", "buffers", "recurrent"]
# cause = """
# `_make_fx_helper` writes an assigned buffer back with copy_ into its memory. The buffer keeps the history of
# what forward wrote into it before, and the next backward continues into this call. It should be detached."""
# path = "nonstrict:module@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "requires-grad", "buffer"]]
# trigger = ["state.rebound"]
# upstream = "https://github.com/pytorch/pytorch/pull/137240"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_trace.py, _make_fx_helper: copy_ for each of assigned_buffers"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""After `self.hidden = self.hidden.detach()`, the buffer requires no grad in eager. In the program it does.

`_make_fx_helper` writes an assigned buffer back with copy_ into its memory. The buffer keeps the history of
what forward wrote into it before, and the next backward continues into this call. It should be detached.
"""

import sys

import torch
from torch import nn


class Model(nn.Linear):
    def __init__(self):
        super().__init__(1, 1)
        self.register_buffer("hidden", torch.zeros(1))

    def forward(self, x):
        y = super().forward(x) + self.hidden
        self.hidden.copy_(y)
        self.hidden = self.hidden.detach()  # first difference
        return y


def make():
    return Model(), (torch.ones(1),)


def show():
    eager, args = make()
    module = torch.export.export(*make()).module()
    (eager(*args), module(*args))
    return eager.hidden.requires_grad, module.hidden.requires_grad


def make_workaround():
    """Detach the value before copying it."""

    class Detaching(Model):
        def forward(self, x):
            y = nn.Linear.forward(self, x) + self.hidden
            self.hidden.copy_(y.detach())
            return y

    return Detaching(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the buffer requires grad: eager {expected}, exported {got}")
    raise SystemExit(bug)

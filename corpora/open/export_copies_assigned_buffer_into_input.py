# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD078"
# title = "torch.export: self.count = self.count + 2 overwrites the user's input if another buffer is None"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "an optional buffer before a counter: the caller's tensor is overwritten, silently"
# topics = ["buffers", "arguments"]
# cause = """
# `_make_fx_helper` finds the graph input of an assigned buffer by its number among all buffers. A buffer that
# is None has no graph input, so that the next one is taken, here x. It should look for the name."""
# path = "nonstrict:module@cpu"
# check = "inputs"
# kind = "mismatch"
# status = "open"
# signatures = [["inputs", "mismatch", "value"]]
# fix = "buffers_are_found_by_name"
# upstream = "https://github.com/pytorch/pytorch/pull/185108"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_trace.py, _make_fx_helper: buffer_input_names counts buffers that are no inputs"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The optional buffer `mask` is None. The program leaves `count` at 0, and writes the new count into the
input x.

`_make_fx_helper` finds the graph input of an assigned buffer by its number among all buffers. A buffer that
is None has no graph input, so that the next one is taken, here x. It should look for the name.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", None)
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        self.count = self.count + 2  # first difference
        return x + 1


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    program = torch.export.export(model, args).module()
    (expected,), (got,) = make()[1], make()[1]
    model(expected)
    program(got)
    return expected, got


def make_workaround():
    """Write the new value into the buffer instead of assigning it."""

    class Writing(Model):
        def forward(self, x):
            self.count.copy_(self.count + 2)
            return x + 1

    return Writing(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager leaves {expected} in the input, export leaves {got}")
    raise SystemExit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD030"
# title = "torch.compile: a chunk of an input to which a parameter was added is a copy, not a view"
# harm = "wrong later"
# reach = "contrived"
# reach-because = "a state updated with gradients, a chunk of it returned, and the state written to later"
# topics = ["views", "in-place"]
# cause = """
# The graph computes the new value of x, copies it into x, and returns a chunk of the new value instead of x.
# For outputs of multi-output views that require grad, AOTAutograd does not make the view again from the
# input. It should do so if the input is updated."""
# path = "compile:aot_eager@cpu"
# check = "aliasing"
# kind = "mismatch"
# status = "open"
# signatures = [["aliasing", "mismatch", "no-longer-shared", "input", "output"]]
# fix = "chunks_of_updated_inputs_are_views"
# upstream = "https://github.com/pytorch/pytorch/pull/186503"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/186503"
# upstream-searched = "2026-11-26"
# at-fault = """
# torch/_functorch/_aot_autograd/collect_metadata_analysis.py, run_functionalized_fw_and_collect_metadata"""
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`x.add_(self.w); return x.chunk(2)[0]` returns a view of x in eager, which shows later writes to x.
Compiled, it does not.

The graph computes the new value of x, copies it into x, and returns a chunk of the new value instead of x.
For outputs of multi-output views that require grad, AOTAutograd does not make the view again from the input.
It should do so if the input is updated.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(2))

    def forward(self, x):
        x.add_(self.w)
        return x.chunk(2)[0]  # first difference


def make():
    return Model(), (torch.zeros(2),)


def later(model, x):
    """Return the result as it is after a write to what was given."""
    out = model(x)
    x.detach().fill_(7)
    return out.tolist()


def show():
    model, args = make()
    expected = later(model, *args)
    model, args = make()
    model.compile(backend="aot_eager")
    return expected, later(model, *args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: after 7 is written to x, eager's result is {expected}, compiled {got}")
    raise SystemExit(bug)

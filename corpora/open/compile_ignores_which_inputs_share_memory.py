# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD021"
# title = "torch.compile: wrong result if inputs shared memory in the first call and do not later"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "writes to an input, and is called with a view of it and without"
# topics = ["views", "in-place"]
# cause = """
# The compiled model runs the graph of the first call again, in which a write to the second input changes the
# first. There is no guard on which inputs share memory: `compute_overlapping_inputs` adds one only for
# symbolic sizes. The model should be compiled again."""
# path = "compile:aot_eager@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "accepted", "base"]]
# undetected-because = "two calls off the specification are tried, chosen by the text of the program"
# trigger = ["input.view_of_another"]
# upstream = "https://github.com/pytorch/pytorch/issues/139789"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/185891"
# at-fault = "torch/_functorch/_aot_autograd/input_output_analysis.py, compute_overlapping_inputs"
# workaround = """
# none: no guard asks which inputs share memory; compile once for each case, with isolate_recompiles=True"""
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""In the first call, the second input is a part of the first, and is written to. In the second call they are
separate.

The compiled model runs the graph of the first call again, in which a write to the second input changes the
first. There is no guard on which inputs share memory: `compute_overlapping_inputs` adds one only for symbolic
sizes. The model should be compiled again.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, y):
        y.mul_(2)
        return x - 1


def make():
    x = torch.ones(1, 3)
    return Model(), (x, x[0])


def show():
    model, args = make()
    compiled = torch.compile(model, backend="aot_eager")
    compiled(*args)
    args = (torch.ones(1, 3), torch.ones(3))
    expected = model(*args).tolist()
    args = (torch.ones(1, 3), torch.ones(3))
    return expected, compiled(*args).tolist()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: for separate inputs, eager gives {expected}, torch.compile {got}")
    raise SystemExit(bug)

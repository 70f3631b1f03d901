# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD028"
# title = "torch.compile: two calls of batch_norm on one input return the same tensor"
# harm = "wrong later"
# reach = "contrived"
# reach-because = "two equal calls of batch_norm, both returned: a write to one changes the other silently"
# topics = ["norms", "views"]
# cause = """
# `fx_graph_cse` merges equal operators, except if their results are returned. It recognizes these by the
# memory of their result. batch_norm has three results, and is not recognized. It should look at each of
# them."""
# path = "compile:aot_eager@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "identity", "output", "new"]]
# fix = "returned_results_of_one_operator_stay_apart"
# upstream = "https://github.com/pytorch/pytorch/pull/134726"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_functorch/compile_utils.py, fx_graph_cse: nodes_that_alias_outputs"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Eager returns two tensors. The compiled model returns one tensor twice, so that a write to one changes the
other.

`fx_graph_cse` merges equal operators, except if their results are returned. It recognizes these by the memory
of their result. batch_norm has three results, and is not recognized. It should look at each of them.
"""

import sys

import torch
from torch import nn


class Model(nn.BatchNorm1d):
    def forward(self, x):
        return super().forward(x), super().forward(x)  # first difference


def make():
    return Model(2).eval(), (torch.ones(3, 2),)


def show():
    model, args = make()
    model.compile(backend="aot_eager")
    one, other = model(*args)
    return False, one.data_ptr() == other.data_ptr()


def make_workaround():
    """Call batch norm once, and copy its result."""

    class Copying(Model):
        def forward(self, x):
            y = nn.BatchNorm1d.forward(self, x)
            return y, y.clone()

    return Copying(2).eval(), (torch.ones(3, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: both outputs are in one memory: {expected} in eager, {got} compiled")
    raise SystemExit(bug)

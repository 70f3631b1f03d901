# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD001"
# title = "torch.compile: AssertionError if forward writes to an argument and then reads a view of it"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "two arguments in one memory, one written to with gradients before the other is read"
# topics = ["views", "in-place"]
# cause = """
# Dynamo makes the fake tensor of `y` when forward first reads it. By then `x` was written to, and its fake
# tensor requires grad. So the fake `y`, a view of it, requires grad as well, but the real one does not, and
# `MetaConverter` asserts that they agree. Dynamo should break the graph there."""
# path = "compile:compiled@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "run",
#         "AssertionError",
#         "meta_utils.py:assert_metadata_eq",
#         "meta_utils.py:go",
#         "meta_utils.py:assert_eq",
#     ],
# ]
# fix = "graph_breaks_at_views_of_written_tensors"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = """
# torch/_dynamo/variables/builder.py, _wrap_to_fake_tensor_and_record_impl: makes a view of the fake base"""
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`y` is a view of `x`. `x.copy_(self.w); return y * 2` runs in eager; torch.compile fails an assertion.

Dynamo makes the fake tensor of `y` when forward first reads it. By then `x` was written to, and its fake
tensor requires grad. So the fake `y`, a view of it, requires grad as well, but the real one does not, and
`MetaConverter` asserts that they agree. Dynamo should break the graph there.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, y):
        x.copy_(self.w)
        return y * 2


def make():
    model = Model()
    model.w = nn.Parameter(torch.ones(2))
    x = torch.zeros(2)
    return model, (x, x[:1])


def show():
    model, args = make()
    model.compile(backend="eager")
    model(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        sys.exit(f"BUG: eager runs, torch.compile raises {error!r:.100}")
    print("ok: the compiled model runs")

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD006"
# title = "torch.compile: in-place updates of a scalar buffer of float64 are dropped"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a sum or a count kept in double precision, updated in place: silently lost"
# topics = ["buffers", "moving-averages", "dtypes"]
# cause = """
# A scalar of float64 may stand for a Python float. `remove_tensorify_specialized_graphargs` removes inputs
# that do and that nothing reads. It asks this of all nodes and not only of inputs, so that it also removes
# the unused result of `add_`."""
# path = "compile:aot_eager@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "value", "buffer"]]
# fix = "dynamo_removes_inputs_alone_as_numbers"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_dynamo/output_graph.py, remove_tensorify_specialized_graphargs: asks all nodes"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "fixed"
# "2.15.0" = "fixed"
# ///
"""The model adds to a sum in double precision. Under torch.compile the sum stays zero.

A scalar of float64 may stand for a Python float. `remove_tensorify_specialized_graphargs` removes inputs that
do and that nothing reads. It asks this of all nodes and not only of inputs, so that it also removes the
unused result of `add_`.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros((), dtype=torch.float64))

    def forward(self, x):
        self.total.add_(x.sum())  # first difference
        return x * 2


def make():
    return Model(), (torch.ones(2),)


def show():
    (model, args), (compiled, _) = make(), make()
    model(*args)
    compiled.compile(backend="aot_eager")
    compiled(*args)
    return model.total, compiled.total


def make_workaround():
    """Add to a view of the buffer that has a dimension."""

    class Summing(Model):
        def forward(self, x):
            self.total.view(1).add_(x.sum())
            return x * 2

    return Summing(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the sum is {expected} in eager, {got} compiled")
    raise SystemExit(bug)

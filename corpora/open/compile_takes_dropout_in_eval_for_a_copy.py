# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD034"
# title = "torch.compile: in-place op on the result of dropout in eval mode does not change the input"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "an in-place operator right after dropout in eval mode"
# topics = ["random", "in-place", "train-eval"]
# cause = """
# The decomposition of dropout returns `input.clone()` if `train` is False. It should return `input`."""
# path = "compile:aot_eager@cpu"
# check = "inputs"
# kind = "mismatch"
# status = "open"
# signatures = [["inputs", "mismatch", "value"]]
# fix = "dropout_returns_input"
# upstream = "https://github.com/pytorch/pytorch/issues/115249"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/185981"
# at-fault = "torch/_decomp/decompositions.py, dropout: returns input.clone()"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "fixed"
# "2.15.0" = "fixed"
# ///
"""Dropout in eval mode returns its input, so that `add_` changes x in eager. Compiled, x does not change.

The decomposition of dropout returns `input.clone()` if `train` is False. It should return `input`.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout()

    def forward(self, x):
        return self.drop(x).add_(1)  # first difference


def make():
    return Model().eval(), (torch.zeros(1),)


def show():
    model, (expected,) = make()
    model(expected)
    model, (got,) = make()
    torch.compile(model, backend="aot_eager")(got)
    return expected, got


def make_workaround():
    """Call dropout in training only."""

    class Skipping(Model):
        def forward(self, x):
            return x.add_(1)

    return Skipping().eval(), (torch.zeros(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager makes of the input {expected}, compiled {got}")
    raise SystemExit(bug)

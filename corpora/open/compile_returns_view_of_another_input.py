# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD033"
# title = "torch.compile: returns a view of the wrong input if two inputs share memory"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a tensor that is written to, and a part of it, both inputs"
# topics = ["views", "in-place"]
# cause = """
# As the inputs share memory, AOTAutograd replaces them by their base x. It then makes the output from the
# base, but with the views that lead from y to the output. `create_synthetic_base_metadata` should drop these
# views, so that the output is made from the base by its own sizes, strides and offset."""
# path = "compile:aot_eager@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "output-views-input"]]
# fix = "outputs_are_no_views_of_a_base"
# upstream = "https://github.com/pytorch/pytorch/pull/198097"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/198097"
# at-fault = "torch/_functorch/_aot_autograd/input_output_analysis.py, create_synthetic_base_metadata"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`y` is `x[1:]`, and x is written to. The model returns `y[0]` in eager, and `x[0]` if compiled.

As the inputs share memory, AOTAutograd replaces them by their base x. It then makes the output from the base,
but with the views that lead from y to the output. `create_synthetic_base_metadata` should drop these views,
so that the output is made from the base by its own sizes, strides and offset.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, y):
        x.add_(100)
        return y[0]  # first difference


def make():
    x = torch.arange(4.0)
    return Model(), (x, x[1:])


def show():
    model, args = make()
    expected = model(*args).item()
    args = make()[1]
    return expected, torch.compile(model, backend="aot_eager")(*args).item()


def make_workaround():
    """Take the part of the first input in the model."""

    class Taking(Model):
        def forward(self, x, y):
            x.add_(100)
            return x[1]

    x = torch.arange(4.0)
    return Taking(), (x, x[1:])


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, torch.compile {got}")
    raise SystemExit(bug)

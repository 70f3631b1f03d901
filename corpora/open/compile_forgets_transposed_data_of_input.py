# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD017"
# title = "torch.compile: x.data = x.data.t() does not change the input x"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "an input whose data is replaced by a view of itself"
# topics = ["data-attribute"]
# cause = """
# The assignment is traced as `x.set_(...)`. `has_metadata_mutation` compares the sizes of an input only after
# in-place views, or if `set_` gave the input another storage. Here the storage is the same."""
# path = "compile:aot_eager@cpu"
# check = "inputs"
# kind = "mismatch"
# status = "open"
# signatures = [["inputs", "mismatch", "shape"]]
# fix = "set_of_an_input_may_change_its_sizes"
# upstream = "https://github.com/pytorch/pytorch/pull/111554"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_functorch/_aot_autograd/functional_utils.py, has_metadata_mutation: after set_"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`x.data = x.data.t()` transposes the argument in eager. After a call of the compiled model it has its old
shape.

The assignment is traced as `x.set_(...)`. `has_metadata_mutation` compares the sizes of an input only after
in-place views, or if `set_` gave the input another storage. Here the storage is the same.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        x.data = x.data.t()  # first difference
        return torch.ones(2)


def make():
    return Model(), (torch.ones(4, 3),)


def show():
    model, (x,) = make()
    model(x)
    expected = tuple(x.shape)
    model, (x,) = make()
    torch.compile(model, backend="aot_eager")(x)
    return expected, tuple(x.shape)


def make_workaround():
    """Transpose the input in place."""

    class Transposing(Model):
        def forward(self, x):
            x.t_()
            return torch.ones(2)

    return Transposing(), (torch.ones(4, 3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager leaves {expected}, torch.compile {got}")
    raise SystemExit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD151"
# title = "torch.export: one_hot of a transposed tensor, then view: \"Cannot view a tensor\""
# harm = "obscure error"
# reach = "occasional"
# reach-because = "one_hot of transposed classes, as of a batch of sequences, and a view of the result"
# topics = ["layout"]
# cause = """
# The kernel fills a new contiguous tensor. The decomposition, which predicts the strides, compares
# `self.unsqueeze(-1)` with a range, and a comparison keeps the strides of its operand. It should make the
# result contiguous."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "export", "ValueError", "fake_impls.py:_view_meta"],
#     ["fake", "mismatch", "stride", "aten.one_hot.default"],
# ]
# fix = "one_hot_is_contiguous"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_decomp/decompositions.py, one_hot: the comparison takes after its input"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""one_hot of a transposed tensor is contiguous, so a view of the result works in eager. Export raises "Cannot
view a tensor".

The kernel fills a new contiguous tensor. The decomposition, which predicts the strides, compares
`self.unsqueeze(-1)` with a range, and a comparison keeps the strides of its operand. It should make the
result contiguous.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, classes):
        return nn.functional.one_hot(classes.t(), 3).view(-1, 3)


def make():
    return Model(), (torch.zeros(2, 2, dtype=torch.int64),)


def show():
    model, args = make()
    model(*args)
    torch.export.export(model, args)


def make_workaround():
    """Make the classes contiguous."""

    class Contiguous(Model):
        def forward(self, classes):
            return nn.functional.one_hot(classes.t().contiguous(), 3).view(-1, 3)

    return Contiguous(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except ValueError as error:
        if "Cannot view" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.150}")
    print("ok: neither eager nor export raises")

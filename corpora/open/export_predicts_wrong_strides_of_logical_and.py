# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD149"
# title = "torch.export: logical_and with a broadcast operand, then view: \"Cannot view a tensor\""
# harm = "obscure error"
# reach = "contrived"
# reach-because = "logical_and of a transposed tensor and a broadcast one, not boolean, and a view of it"
# topics = ["layout"]
# cause = """
# The reference, which predicts the strides, first broadcasts the operands, then compares each with 0. For
# the broadcast operand, this makes a contiguous copy, and the result follows its strides. It should compare
# first."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "export", "ValueError", "fake_impls.py:_view_meta"],
#     ["fake", "mismatch", "stride", "aten.logical_and.default"],
# ]
# fix = "references_take_after_broadcast_operands"
# upstream = ""
# at-fault = "torch/_refs/__init__.py, _make_elementwise_binary_reference: _maybe_broadcast"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""logical_and of a tensor of one element and a transposed one has the strides of the transposed one, so a
view of the result, transposed back, works in eager. Export raises "Cannot view a tensor".

The reference, which predicts the strides, first broadcasts the operands, then compares each with 0. For the
broadcast operand, this makes a contiguous copy, and the result follows its strides. It should compare first.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, y):
        return torch.logical_and(x, y.t()).t().view(-1)


def make():
    return Model(), (torch.ones(1, 1), torch.ones(3, 2))


def show():
    model, args = make()
    model(*args)
    torch.export.export(model, args)


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

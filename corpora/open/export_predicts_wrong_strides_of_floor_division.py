# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD147"
# title = "torch.export: x // y with y transposed, then view: \"Cannot view a tensor\""
# harm = "obscure error"
# reach = "contrived"
# reach-because = "floor division of two tensors of different layouts, and a view of the result"
# topics = ["layout"]
# cause = """
# The result has the strides of x. The decomposition `_floor_divide_float`, which predicts them, ends in
# `where(ne(b, 0), ...)`, whose result has the strides of its first operand, made from y. That operand
# should be made from x."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "export", "ValueError", "fake_impls.py:_view_meta"],
#     ["fake", "mismatch", "stride", "aten.floor_divide.default"],
# ]
# fix = "floor_divide_takes_after_dividend"
# upstream = "https://github.com/pytorch/pytorch/issues/198364"
# upstream-match = "mechanism"
# at-fault = "torch/_refs/__init__.py, _floor_divide_float: ends in where(ne(b, 0), ...)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""If x is contiguous and y is transposed, `x // y` is contiguous, so a view of it works in eager. Export
raises "Cannot view a tensor".

The result has the strides of x. The decomposition `_floor_divide_float`, which predicts them, ends in
`where(ne(b, 0), ...)`, whose result has the strides of its first operand, made from y. That operand should be
made from x.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, y):
        return (x // y.t()).view(-1)


def make():
    return Model(), (torch.ones(2, 2), torch.ones(2, 2))


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

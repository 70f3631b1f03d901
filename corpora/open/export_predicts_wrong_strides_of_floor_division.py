# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD147"
# title = "torch.export: the graph records the strides of y for x // y, which has those of x"
# harm = "cosmetic"
# reach = "contrived"
# reach-because = "floor division of two layouts: recorded strides are wrong"
# topics = ["layout"]
# cause = """
# The decomposition `_floor_divide_float` ends in `where(ne(b, 0), ...)`, whose result has the strides of its
# first operand, made from y. A compiler that plans views by the recorded strides makes mistakes."""
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "stride", "aten.floor_divide.default"]]
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
"""If x and y have different layouts, `x // y` has the strides of x. The graph records those of y.

The decomposition `_floor_divide_float` ends in `where(ne(b, 0), ...)`, whose result has the strides of its
first operand, made from y. A compiler that plans views by the recorded strides makes mistakes.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, y):
        return x // y


def make():
    return Model(), (torch.ones(2, 2), torch.ones(2, 2).t())


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    (node,) = ep.graph.find_nodes(op="call_function", target=torch.ops.aten.floor_divide.default)
    return model(*args).stride(), node.meta["val"].stride()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives strides {expected}, the graph says {got}")
    raise SystemExit(bug)

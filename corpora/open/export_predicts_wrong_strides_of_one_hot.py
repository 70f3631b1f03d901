# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD151"
# title = "torch.export: the graph records transposed strides for one_hot, which is contiguous"
# harm = "cosmetic"
# reach = "occasional"
# reach-because = "one_hot of transposed classes: recorded strides are wrong"
# topics = ["layout"]
# cause = """
# The kernel fills a new contiguous tensor. The decomposition compares `self.unsqueeze(-1)` with a range, and
# a comparison keeps the strides of its operand. A compiler that plans views by the recorded strides makes
# mistakes."""
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "stride", "aten.one_hot.default"]]
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
"""one_hot of a transposed tensor is contiguous. The graph records transposed strides.

The kernel fills a new contiguous tensor. The decomposition compares `self.unsqueeze(-1)` with a range, and a
comparison keeps the strides of its operand. A compiler that plans views by the recorded strides makes
mistakes.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return nn.functional.one_hot(x, 1)


def make():
    return Model(), (torch.zeros(2, 2, dtype=torch.int64).t(),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    (node,) = ep.graph.find_nodes(op="call_function", target=torch.ops.aten.one_hot.default)
    return model(*args).stride(), node.meta["val"].stride()


def make_workaround():
    """Make the input contiguous."""

    class Contiguous(Model):
        def forward(self, x):
            return nn.functional.one_hot(x.contiguous(), 1)

    return Contiguous(), (torch.zeros(2, 2, dtype=torch.int64).t(),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives strides {expected}, the graph says {got}")
    raise SystemExit(bug)

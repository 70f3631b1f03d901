# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD149"
# title = "torch.export: the graph records wrong strides for logical_and with a broadcast operand"
# harm = "cosmetic"
# reach = "contrived"
# reach-because = "logical_and of a transposed tensor and a broadcast one: recorded strides are wrong"
# topics = ["layout"]
# cause = """
# The reference first broadcasts the operands, then compares each with 0. For the broadcast operand, this
# makes a contiguous copy, and the result follows its strides. It should compare first."""
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "stride", "aten.logical_and.default"]]
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
"""logical_and of a transposed tensor and a broadcast one has transposed strides. The graph records contiguous
ones.

The reference first broadcasts the operands, then compares each with 0. For the broadcast operand, this makes
a contiguous copy, and the result follows its strides. It should compare first.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, y):
        return torch.logical_and(x, y)


def make():
    return Model(), (torch.ones(1, 1), torch.ones(3, 2).t())


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    (node,) = ep.graph.find_nodes(op="call_function", target=torch.ops.aten.logical_and.default)
    return model(*args).stride(), node.meta["val"].stride()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives strides {expected}, the graph says {got}")
    raise SystemExit(bug)

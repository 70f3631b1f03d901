# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD148"
# title = "torch.export: the graph records transposed strides for nearest interpolation of a signal"
# harm = "cosmetic"
# reach = "occasional"
# reach-because = "nearest interpolation of a transposed signal: recorded strides are wrong"
# topics = ["layout"]
# cause = """
# The decomposition `_upsample_nearest` indexes the input, which keeps its strides. It makes the result
# contiguous, as the kernel does, but only for four and five dimensions. It should do so for three as well."""
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "stride", "aten.upsample_nearest1d.vec"]]
# fix = "upsample_nearest1d_is_contiguous"
# upstream = "https://github.com/pytorch/pytorch/pull/179830"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/179830"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_decomp/decompositions.py, _upsample_nearest: `if result.ndim in (4, 5)`"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Nearest interpolation of a transposed signal returns a contiguous result. The graph records transposed
strides.

The decomposition `_upsample_nearest` indexes the input, which keeps its strides. It makes the result
contiguous, as the kernel does, but only for four and five dimensions. It should do so for three as well.
"""

import sys

import torch
from torch import nn


def make():
    return nn.Upsample(scale_factor=2), (torch.ones(2, 2, 1).transpose(0, 1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    (node,) = ep.graph.find_nodes(op="call_function", target=torch.ops.aten.upsample_nearest1d.vec)
    return model(*args).stride(), node.meta["val"].stride()


def make_workaround():
    """Make the input contiguous."""

    class Contiguous(nn.Upsample):
        def forward(self, x):
            return super().forward(x.contiguous())

    return Contiguous(scale_factor=2), (torch.ones(2, 2, 1).transpose(0, 1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives strides {expected}, the graph says {got}")
    raise SystemExit(bug)

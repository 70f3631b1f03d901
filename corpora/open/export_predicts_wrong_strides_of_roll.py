# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD152"
# title = "torch.export: the graph records wrong strides for roll of a channels_last tensor on the CPU"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "roll of an image in channels last: views of the result fail once compiled"
# topics = ["layout"]
# cause = """
# The CPU kernel concatenates two slices, which keeps the memory format. `torch._refs.roll`, which predicts
# the strides, uses `index_select`, whose result is contiguous."""
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "stride", "aten.roll.default"]]
# fix = "roll_keeps_memory_format_on_cpu"
# upstream = "https://github.com/pytorch/pytorch/issues/174963"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_refs/__init__.py, roll: index_select"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""roll of an image in channels last returns channels last. The graph records contiguous strides. So export of
a view of the result, as in `x.roll(1, 2).permute(0, 2, 3, 1).view(1, -1)`, fails.

The CPU kernel concatenates two slices, which keeps the memory format. `torch._refs.roll`, which predicts the
strides, uses `index_select`, whose result is contiguous.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x.roll(1, 2)


def make():
    return Model(), (torch.ones(1, 2, 3, 3).to(memory_format=torch.channels_last),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    (node,) = ep.graph.find_nodes(op="call_function", target=torch.ops.aten.roll.default)
    return model(*args).stride(), node.meta["val"].stride()


def make_workaround():
    """Make the image contiguous."""

    class Contiguous(Model):
        def forward(self, x):
            return x.contiguous().roll(1, 2)

    return Contiguous(), (torch.ones(1, 2, 3, 3).to(memory_format=torch.channels_last),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives strides {expected}, the graph says {got}")
    raise SystemExit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD150"
# title = "torch.export: the graph records contiguous strides for MaxUnpool2d of an image in channels last"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "MaxUnpool2d in channels last: views of the result fail once compiled"
# topics = ["layout"]
# cause = """
# The CPU kernel makes its result in the memory format of the image. The decomposition fills contiguous zeros.
# So views of the result can fail in compiled code."""
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "stride", "aten.max_unpool2d.default"]]
# fix = "max_unpool2d_keeps_memory_format_on_cpu"
# upstream = "https://github.com/pytorch/pytorch/issues/187173"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/187195"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_decomp/decompositions.py, max_unpool2d: new_zeros of _max_unpoolnd"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "fixed"
# "2.15.0" = "fixed"
# ///
"""MaxUnpool2d of an image in channels last returns channels last. The graph records contiguous strides.

The CPU kernel makes its result in the memory format of the image. The decomposition fills contiguous zeros.
So views of the result can fail in compiled code.
"""

import sys

import torch
from torch import nn


def make():
    image, places = torch.ones(1, 2, 1, 1), torch.zeros(1, 2, 1, 1, dtype=torch.int64)
    return nn.MaxUnpool2d(2), (image.to(memory_format=torch.channels_last), places)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    (node,) = ep.graph.find_nodes(op="call_function", target=torch.ops.aten.max_unpool2d.default)
    return model(*args).stride(), node.meta["val"].stride()


def make_workaround():
    """Copy the image to contiguous memory."""

    class Contiguous(nn.MaxUnpool2d):
        def forward(self, image, places):
            return super().forward(image.clone(memory_format=torch.contiguous_format), places)

    image, places = torch.ones(1, 2, 1, 1), torch.zeros(1, 2, 1, 1, dtype=torch.int64)
    return Contiguous(2), (image.to(memory_format=torch.channels_last), places)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives strides {expected}, the graph says {got}")
    raise SystemExit(bug)

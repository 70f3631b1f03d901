# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD150"
# title = "torch.export: MaxUnpool2d of an image in channels last, then view: \"Cannot view a tensor\""
# harm = "obscure error"
# reach = "occasional"
# reach-because = "MaxUnpool2d in channels last on the CPU, and a view of its pixels as a vector"
# topics = ["layout"]
# cause = """
# The CPU kernel makes its result in the memory format of the image. The decomposition, which predicts the
# strides, fills contiguous zeros. It should use the memory format of the image, too."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "export", "ValueError", "fake_impls.py:_view_meta"],
#     ["fake", "mismatch", "stride", "aten.max_unpool2d.default"],
# ]
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
"""MaxUnpool2d of an image in channels last returns channels last on the CPU, so its pixels can be viewed as a
vector in eager. Export raises "Cannot view a tensor".

The CPU kernel makes its result in the memory format of the image. The decomposition, which predicts the
strides, fills contiguous zeros. It should use the memory format of the image, too.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, image, indices):
        unpooled = nn.functional.max_unpool2d(image, indices, 2)
        return unpooled.permute(0, 2, 3, 1).view(-1)


def make():
    image, indices = torch.ones(1, 2, 1, 1), torch.zeros(1, 2, 1, 1, dtype=torch.int64)
    return Model(), (image.to(memory_format=torch.channels_last), indices)


def show():
    model, args = make()
    model(*args)
    torch.export.export(model, args)


def make_workaround():
    """Make the image contiguous, and use reshape."""

    class Contiguous(Model):
        def forward(self, image, indices):
            unpooled = nn.functional.max_unpool2d(
                image.clone(memory_format=torch.contiguous_format), indices, 2
            )
            return unpooled.permute(0, 2, 3, 1).reshape(-1)

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

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD148"
# title = "torch.export: nearest interpolation of a transposed signal, then view: \"Cannot view a tensor\""
# harm = "obscure error"
# reach = "occasional"
# reach-because = "nearest interpolation of a transposed signal, and a view of the result"
# topics = ["layout"]
# cause = """
# The decomposition `_upsample_nearest`, which predicts the strides, indexes the input. This keeps the order
# of its first two dimensions. It makes the result contiguous, as the kernel does, but only for four and
# five dimensions. It should do so for three as well."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "export", "ValueError", "fake_impls.py:_view_meta"],
#     ["fake", "mismatch", "stride", "aten.upsample_nearest1d.vec"],
# ]
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
"""A signal is transposed, upsampled and viewed as a vector. The result of nearest interpolation is
contiguous, so this works in eager. Export raises "Cannot view a tensor".

The decomposition `_upsample_nearest`, which predicts the strides, indexes the input. This keeps the order of
its first two dimensions. It makes the result contiguous, as the kernel does, but only for four and five
dimensions. It should do so for three as well.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return nn.functional.interpolate(x.transpose(0, 1), scale_factor=2).view(-1)


def make():
    return Model(), (torch.ones(2, 2, 1),)


def show():
    model, args = make()
    model(*args)
    torch.export.export(model, args)


def make_workaround():
    """Make the input of the interpolation contiguous."""

    class Contiguous(Model):
        def forward(self, x):
            x = x.transpose(0, 1).contiguous()
            return nn.functional.interpolate(x, scale_factor=2).view(-1)

    return Contiguous(), (torch.ones(2, 2, 1),)


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

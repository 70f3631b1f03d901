# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD152"
# title = "torch.export: roll of an image in channels last, then view: \"Cannot view a tensor\""
# harm = "obscure error"
# reach = "occasional"
# reach-because = "roll of an image in channels last on the CPU, and a view of its pixels as a vector"
# topics = ["layout"]
# cause = """
# The CPU kernel concatenates two slices, which keeps the memory format. `torch._refs.roll`, which predicts
# the strides, uses `index_select`, whose result is contiguous."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "export", "ValueError", "fake_impls.py:_view_meta"],
#     ["fake", "mismatch", "stride", "aten.roll.default"],
# ]
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
"""roll of an image in channels last returns channels last on the CPU, so its pixels can be viewed as a vector
in eager. Export raises "Cannot view a tensor".

The CPU kernel concatenates two slices, which keeps the memory format. `torch._refs.roll`, which predicts the
strides, uses `index_select`, whose result is contiguous.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, image):
        return image.roll(1, 2).permute(0, 2, 3, 1).view(-1)


def make():
    return Model(), (torch.ones(1, 2, 3, 3).to(memory_format=torch.channels_last),)


def show():
    model, args = make()
    model(*args)
    torch.export.export(model, args)


def make_workaround():
    """Permute first, and roll the result."""

    class Permuting(Model):
        def forward(self, image):
            return image.permute(0, 2, 3, 1).roll(1, 1).view(-1)

    return Permuting(), make()[1]


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

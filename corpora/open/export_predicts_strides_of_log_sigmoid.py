# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD401"
# title = "torch.export: logsigmoid of a transposed tensor, then view: \"Cannot view a tensor\""
# harm = "obscure error"
# reach = "occasional"
# reach-because = "scores that are transposed for a loss with logsigmoid, and a view of the result"
# topics = ["layout", "losses"]
# cause = """
# The CPU kernel makes a contiguous result. The decomposition `log_sigmoid_forward`, which predicts the
# strides, uses elementwise operators, which keep the strides of their input. It should make its results
# contiguous on the CPU."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "export", "ValueError", "fake_impls.py:_view_meta"],
#     ["fake", "mismatch", "stride", "aten.log_sigmoid.default"],
# ]
# fix = "log_sigmoid_is_contiguous_on_cpu"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_decomp/decompositions.py, log_sigmoid_forward: the results take after the input"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""logsigmoid of a transposed tensor is contiguous, so a view of the result works in eager. Export raises
"Cannot view a tensor".

The CPU kernel makes a contiguous result. The decomposition `log_sigmoid_forward`, which predicts the strides,
uses elementwise operators, which keep the strides of their input. It should make its results contiguous on
the CPU.
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return F.logsigmoid(x.t()).view(-1)


def make():
    return Model(), (torch.zeros(2, 3),)


def show():
    model, args = make()
    model(*args)
    torch.export.export(model, args)


def make_workaround():
    """Make the input contiguous."""

    class Contiguous(Model):
        def forward(self, x):
            return F.logsigmoid(x.t().contiguous()).view(-1)

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

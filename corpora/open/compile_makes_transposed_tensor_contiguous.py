# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD027"
# title = "torch.compile: masked_fill_ on a transposed tensor makes the result contiguous"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "masked_fill_ on a transposed or channels-last tensor: other strides, so that view raises"
# topics = ["layout", "in-place"]
# cause = """
# AOTAutograd runs `masked_fill` instead of `masked_fill_`, and gives the tensor the strides of the result,
# which is contiguous. Code that depends on strides, such as `as_strided`, then reads other elements.
# `FunctionalTensorWrapper::replace_` should keep the strides of the tensor."""
# path = "compile:aot_eager@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "stride", "fresh"]]
# trigger = ["inplace.masked_fill_"]
# upstream = "https://github.com/pytorch/pytorch/issues/133512"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/186328"
# at-fault = "aten/src/ATen/FunctionalTensorWrapper.cpp, replace_: takes the strides of the functional result"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`masked_fill_` keeps the strides of a transposed tensor in eager. Compiled, the result is contiguous:
`result.t().view(-1)` raises.

AOTAutograd runs `masked_fill` instead of `masked_fill_`, and gives the tensor the strides of the result,
which is contiguous. Code that depends on strides, such as `as_strided`, then reads other elements.
`FunctionalTensorWrapper::replace_` should keep the strides of the tensor.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        y = x.t().clone()
        return y.masked_fill_(y < 0, 0)  # first difference


def make():
    return Model(), (torch.ones(2, 2),)


def show():
    model, args = make()
    expected = model(*args).t().view(-1)
    model, args = make()
    return expected, torch.compile(model, backend="aot_eager")(*args).t().view(-1)


def make_workaround():
    """Copy the filled values into the tensor."""

    class Copying(Model):
        def forward(self, x):
            y = x.t().clone()
            return y.copy_(y.masked_fill(y < 0, 0))

    return Copying(), (torch.ones(2, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "view size is not compatible" not in str(error):
            raise
        sys.exit(f"BUG: a view of eager's result succeeds, of the compiled one raises {error!r:.100}")
    print(f"ok: eager gives {expected}, compiled {got}")

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD014"
# title = "torch.compile: a result of unsqueeze_ or t_ that needs gradients cannot be written to in place"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "unsqueeze_ or t_ on the result, and an in-place operator on what is returned"
# topics = ["in-place", "views"]
# cause = """
# In eager, y is no view. The compiled graph returns a view in its place, "created inside a custom Function",
# and autograd forbids writes to such views. `_transform_raw_returns` hides this for other outputs, and should
# do so here."""
# path = "compile:aot_eager@cpu"
# check = "aliasing"
# kind = "mismatch"
# status = "open"
# signatures = [
#   ["aliasing", "mismatch", "write", "barred", "Output of CompiledFunction is view and is being"],
# ]
# fix = "outputs_that_are_no_views_can_be_written"
# upstream = "https://github.com/pytorch/pytorch/issues/90507"
# upstream-match = "mechanism"
# at-fault = "torch/_functorch/_aot_autograd/runtime_wrappers.py, _transform_raw_returns: keeps views"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`y = x * 2; y.unsqueeze_(0); return y`: in eager, callers can write to y in place. Compiled, autograd
refuses it.

In eager, y is no view. The compiled graph returns a view in its place, "created inside a custom Function",
and autograd forbids writes to such views. `_transform_raw_returns` hides this for other outputs, and should
do so here.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        y = x * 2
        y.unsqueeze_(0)
        return y  # first difference


def make():
    return Model(), (torch.ones(2, requires_grad=True),)


def show():
    model, args = make()
    expected = model(*args).mul_(2)
    model, args = make()
    return expected, torch.compile(model, backend="aot_eager")(*args).mul_(2)


def make_workaround():
    """Call unsqueeze, which returns a view, instead of unsqueeze_."""

    class Viewing(Model):
        def forward(self, x):
            return (x * 2).unsqueeze(0)

    return Viewing(), (torch.ones(2, requires_grad=True),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "is a view and is being modified inplace" not in str(error):
            raise
        sys.exit(f"BUG: eager's result can be written in place, the compiled one raises {error!r:.100}")
    print("ok: both results can be written in place")

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD368"
# title = "torch.export: masked_select with a larger mask fails when it selects more than the tensor has"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "models that select from a vector by a mask with a batch dimension"
# topics = ["indexing", "dynamic-sizes"]
# cause = """
# The fake implementation of `masked_select` says that the result has at most `self.numel()` elements. But the
# mask and the tensor are broadcast, so that the result can have as many elements as the mask. The program
# asserts the bound in each call. The function should take the size of the broadcast shape."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "run", "RuntimeError", "Runtime assertion failed for expression on node"],
# ]
# fix = "masked_select_is_bounded_by_broadcast_size"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_subclasses/fake_impls.py, masked_select: num_elements = int(self.numel())"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model selects from three weights by a mask for two samples. Eager returns six values; the exported
program raises RuntimeError.

The fake implementation of `masked_select` says that the result has at most `self.numel()` elements. But the
mask and the tensor are broadcast, so that the result can have as many elements as the mask. The program
asserts the bound in each call. The function should take the size of the broadcast shape.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = torch.nn.Parameter(torch.ones(3))

    def forward(self, mask):
        return self.weights.masked_select(mask)


def make():
    return Model(), (torch.ones(2, 3, dtype=torch.bool),)


def show():
    model, args = make()
    return torch.export.export(model, args).module()(*args)


def make_workaround():
    """Expand the tensor to the shape of the mask."""

    class Expanded(Model):
        def forward(self, mask):
            return self.weights.expand_as(mask).masked_select(mask)

    return Expanded(), (torch.ones(2, 3, dtype=torch.bool),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager returns 6 values, the exported program raises {error!r:.100}")
    print("ok: the exported program returns what eager does")

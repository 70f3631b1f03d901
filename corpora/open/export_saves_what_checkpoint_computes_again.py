# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD161"
# title = "torch.export: backward raises if the result of a checkpoint that ends in relu is changed in place"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "an in-place operator on the result of a checkpoint that ends in relu or sigmoid"
# topics = ["checkpoint", "in-place"]
# cause = """
# A checkpoint saves nothing for backward, and computes relu again. Non-strict export records only the
# operators of the checkpoint and not its hooks, so that autograd saves the result of relu, which add_ then
# changes. It should record the checkpoint, or refuse it."""
# path = "nonstrict:module@cpu"
# check = "gradients"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "gradients",
#         "crash",
#         "backward",
#         "run",
#         "RuntimeError",
#         "one of the variables needed for gradient computation",
#     ],
# ]
# trigger = ["region.checkpoint"]
# upstream = "https://github.com/pytorch/pytorch/pull/179021"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-26"
# at-fault = "torch/utils/checkpoint.py, _checkpoint_without_reentrant_generator: unrecorded hooks"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`checkpoint(torch.relu, x).add_(1)`: backward works in eager; in the program it raises "modified by an
inplace operation".

A checkpoint saves nothing for backward, and computes relu again. Non-strict export records only the operators
of the checkpoint and not its hooks, so that autograd saves the result of relu, which add_ then changes. It
should record the checkpoint, or refuse it.
"""

import sys

import torch
from torch.utils.checkpoint import checkpoint


class Model(torch.nn.Module):
    def forward(self, x):
        y = checkpoint(torch.relu, x, use_reentrant=False)
        return y.add_(1)


def make():
    return Model(), (torch.ones(3, requires_grad=True),)


def show():
    model, args = make()
    module = torch.export.export(model, args, strict=False).module()
    model(*args).sum().backward()
    module(*args).sum().backward()


def make_workaround():
    """Add out of place."""

    class Adding(Model):
        def forward(self, x):
            return checkpoint(torch.relu, x, use_reentrant=False) + 1

    return Adding(), (torch.ones(3, requires_grad=True),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        sys.exit(f"BUG: the backward works in eager, and raises here: {error!r:.100}")
    print("ok: the backward works in both")

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: a second derivative raises if the result of a checkpoint is changed in place"
# variant-of = "export_saves_what_checkpoint_computes_again"
# path = "nonstrict+differentiated:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "run", "RuntimeError", "one of the variables needed for gradient computation"],
# ]
# trigger = ["region.checkpoint"]
# upstream = "https://github.com/pytorch/pytorch/pull/179021"
# upstream-match = "mechanism"
# at-fault = "torch/utils/checkpoint.py, _checkpoint_without_reentrant_generator: unrecorded hooks"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The result of a checkpoint that ends in sigmoid is doubled in place. A gradient penalty works in eager;
with the program it raises "modified by an inplace operation".

A checkpoint saves nothing for backward, and computes sigmoid again. Non-strict export records only the
operators of the checkpoint and not its hooks, so that autograd saves the result of sigmoid, which mul_ then
changes. It should record the checkpoint, or refuse it.
"""

import sys

import torch
from torch.utils.checkpoint import checkpoint


class Model(torch.nn.Module):
    def forward(self, x):
        y = checkpoint(torch.sigmoid, x, use_reentrant=False)
        return y.mul_(2)


def make():
    return Model(), (torch.ones(3, requires_grad=True),)


def penalty(model, x):
    (slope,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
    return torch.autograd.grad(slope.sum(), x)


def show():
    model, args = make()
    module = torch.export.export(model, args, strict=False).module()
    penalty(model, *args)
    penalty(module, *args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise
        sys.exit(f"BUG: the penalty works in eager, and raises here: {error!r:.100}")
    print("ok: the penalty works in both")

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: backward raises if a weight that a checkpoint reads is changed after the call"
# variant-of = "export_saves_what_checkpoint_computes_again"
# path = "nonstrict:module@cpu"
# check = "aliasing"
# kind = "mismatch"
# status = "open"
# signatures = [
#     ["aliasing", "mismatch", "write", "backward", "one of the variables needed for gradient computation"],
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
"""The weight of a layer in a checkpoint is changed after the call. Then backward works in eager; in the
program it raises "modified by an inplace operation".

A checkpoint saves nothing for backward, and computes the layer again. Non-strict export records only the
operators of the checkpoint and not its hooks, so that autograd saves the weight. It should record the
checkpoint, or refuse it.
"""

import sys

import torch
from torch.utils.checkpoint import checkpoint


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)

    def forward(self, x):
        return checkpoint(self.layer, x, use_reentrant=False), self.layer.weight


def make():
    return Model(), (torch.ones(1, 2, requires_grad=True),)


def backward_after_write(y, weight):
    with torch.no_grad():
        weight.add_(1)
    y.sum().backward()


def show():
    model, args = make()
    module = torch.export.export(model, args, strict=False).module()
    backward_after_write(*model(*args))
    backward_after_write(*module(*args))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise
        sys.exit(f"BUG: the backward works in eager, and raises here: {error!r:.100}")
    print("ok: the backward works in both")

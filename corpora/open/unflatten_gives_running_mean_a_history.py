# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD322"
# title = "unflatten of a decomposed program: a buffer updated under no_grad requires grad after a call"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a running mean updated under no_grad, decomposed and unflattened"
# topics = ["moving-averages", "no-grad", "buffers"]
# cause = """
# `_inplace_buffer_and_input_mutations` writes the new value into the buffer with copy_. This runs in the grad
# mode of the caller, and autograd records it. Each call adds to the history. The value should be detached
# before it is copied."""
# path = "nonstrict+decompose:unflatten@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "requires-grad", "buffer"]]
# unmasked = [["gradients", "mismatch", "none", "state", "lost"]]
# fix = "unflatten_writes_back_to_parameters"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, _inplace_buffer_and_input_mutations: copy_ with autograd on"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model updates a mean under no_grad. Decomposed and unflattened, the mean requires grad after a call.

`_inplace_buffer_and_input_mutations` writes the new value into the buffer with copy_. This runs in the grad
mode of the caller, and autograd records it. Each call adds to the history. The value should be detached
before it is copied.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(1, 1)
        self.register_buffer("mean", torch.zeros(1))

    def forward(self, x):
        y = self.linear(x)
        with torch.no_grad():
            self.mean.lerp_(y, 0.1)  # first difference
        return y - self.mean


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    module = torch.export.unflatten(torch.export.export(model, args).run_decompositions())
    module(*args)
    return False, module.mean.requires_grad


def workaround_call(module, x):
    """Detach the buffer after each call."""
    y = module(x)
    module.mean.detach_()
    return y


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: after a call the buffer {'requires grad' if got else 'has no history'}")
    raise SystemExit(bug)

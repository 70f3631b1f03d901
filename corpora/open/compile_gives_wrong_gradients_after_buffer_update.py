# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD019"
# title = "torch.compile: wrong gradients if forward updates a buffer in place and multiplies by it"
# harm = "wrong later"
# reach = "everyday"
# reach-because = "a step counter or running statistic, updated and multiplied with in forward"
# evidence = [
#     "https://github.com/pytorch/pytorch/pull/197039",
#     "https://github.com/xiaohu2015/nngen/blob/main/models/vq_vae_ema.ipynb",
# ]
# topics = ["buffers", "moving-averages"]
# cause = """
# The partitioner saves the old buffer for backward and computes `steps + 1` again there. But forward has
# written this sum into the buffer by then, so that 1 is added twice. The min-cut partitioner should not save
# an input that the graph updates."""
# path = "compile:aot_eager@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "value", "state"]]
# fix = "backward_recomputes_nothing_from_updated_inputs"
# upstream = "https://github.com/pytorch/pytorch/pull/197039"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/197039"
# at-fault = "torch/_functorch/partitioners.py, min_cut_rematerialization_partition: saves an updated input"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Forward updates a buffer and multiplies by it. Compiled, the gradient of the weight is 2 instead of 1.

The partitioner saves the old buffer for backward and computes `steps + 1` again there. But forward has
written this sum into the buffer by then, so that 1 is added twice. The min-cut partitioner should not save an
input that the graph updates.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.register_buffer("steps", torch.tensor(0.0))

    def forward(self, x):
        self.steps.add_(1)
        return self.weight * x * self.steps  # first difference


def make():
    return Model(), (torch.ones(2),)


def gradient(model, call, x):
    call(x).sum().backward()
    return model.weight.grad.tolist()


def show():
    model, args = make()
    expected = gradient(model, model, *args)
    model, args = make()
    return expected, gradient(model, torch.compile(model, backend="aot_eager"), *args)


def make_workaround():
    """Assign a new tensor to the buffer, instead of updating it in place."""

    class Assigning(Model):
        def forward(self, x):
            self.steps = self.steps + 1
            return self.weight * x * self.steps

    return Assigning(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the gradient is {expected} in eager, {got} compiled")
    raise SystemExit(bug)

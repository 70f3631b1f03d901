# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD003"
# title = "torch.compile(backend=\"eager\"): backward of dropout in a checkpoint uses another mask"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "dropout in a checkpointed layer, trained with the backend for finding errors"
# topics = ["random", "checkpoint"]
# cause = """
# `tag_activation_checkpoint_impl` calls `checkpoint` with preserve_rng_state=False, because AOTAutograd
# replays random numbers itself. With backend="eager" there is no AOTAutograd, so that the recomputation draws
# a new mask."""
# path = "compile:compiled@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "value", "state"]]
# fix = "checkpoint_that_runs_preserves_random_state"
# upstream = "https://github.com/pytorch/pytorch/pull/160883"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_higher_order_ops/wrap.py, tag_activation_checkpoint_impl: preserve_rng_state"
# workaround = """
# none: backend="aot_eager" uses one mask, and finds most of the errors for which "eager" is used"""
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "fixed"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""In a checkpoint compiled with backend="eager", backward drops other elements than forward: the gradients do
not fit the result.

`tag_activation_checkpoint_impl` calls `checkpoint` with preserve_rng_state=False, because AOTAutograd replays
random numbers itself. With backend="eager" there is no AOTAutograd, so that the recomputation draws a new
mask.
"""

import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(64))

    def forward(self, x):
        return checkpoint(nn.functional.dropout, x * self.weight, use_reentrant=False)  # first difference


def make():
    return Model(), (torch.ones(64),)


def show():
    model, args = make()
    y = torch.compile(model, backend="eager")(*args)
    y.sum().backward()
    return 0, int(((y != 0) != (model.weight.grad != 0)).sum())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: {got} of 64 gradients belong to another mask")
    raise SystemExit(bug)

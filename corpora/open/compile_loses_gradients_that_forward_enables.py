# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD026"
# title = "torch.compile: enable_grad in forward has no effect under no_grad if forward writes to an input"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "called under no_grad, a forward that enables gradients and writes to an input in place"
# topics = ["no-grad", "in-place"]
# cause = """
# AOTAutograd traces forward with clones of the inputs that it writes to. `fn_prepped_for_autograd` makes the
# clones under the no_grad of the caller, so that they have no gradients. It should make them with gradients
# on."""
# path = "compile:aot_eager@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = []
# undetected-because = "what a call under no_grad returns is compared without requires_grad"
# fix = "inputs_are_cloned_with_grad_mode"
# upstream = ""
# at-fault = """
# torch/_functorch/_aot_autograd/graph_capture_wrappers.py, fn_prepped_for_autograd: maybe_to_fresh_input"""
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Called under no_grad, forward enables gradients and writes to its input. The result requires grad in eager,
but not compiled.

AOTAutograd traces forward with clones of the inputs that it writes to. `fn_prepped_for_autograd` makes the
clones under the no_grad of the caller, so that they have no gradients. It should make them with gradients on.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        with torch.enable_grad():
            x.mul_(2)
            return x * 3


def make():
    return Model(), (torch.ones(2, requires_grad=True).clone(),)


def show():
    model, args = make()
    with torch.no_grad():
        expected = model(*args)
    model, args = make()
    model.compile(backend="aot_eager")
    with torch.no_grad():
        got = model(*args)
    return expected.requires_grad, got.requires_grad


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: requires_grad is {expected} in eager, {got} with torch.compile")
    raise SystemExit(bug)

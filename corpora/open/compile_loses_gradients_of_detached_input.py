# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD025"
# title = "torch.compile: no gradient for a tensor added in place to a detached input that is returned"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a detached hidden state or a buffer, updated in place by weights and returned"
# topics = ["no-grad", "in-place", "buffers"]
# cause = """
# The result has the memory of the input x. AOTAutograd takes it for a view of x
# (`OutputType.alias_of_input`), and makes it again from x, without its own history. It should ask whether the
# output has a history of its own."""
# path = "compile:aot_eager@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "none", "state", "lost"]]
# # With the fix, what is returned has separate memory.
# unmasked = [["aliasing", "mismatch", "no-longer-shared", "input", "output"]]
# fix = "outputs_written_detached_keep_their_gradients"
# upstream = "https://github.com/pytorch/pytorch/pull/95980"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_functorch/_aot_autograd/collect_metadata_analysis.py, OutputType.alias_of_input"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`x.detach().add_(self.bias)` is returned. Eager gives a gradient for the bias, the compiled model gives
None.

The result has the memory of the input x. AOTAutograd takes it for a view of x (`OutputType.alias_of_input`),
and makes it again from x, without its own history. It should ask whether the output has a history of its own.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.ones(2))

    def forward(self, x):
        return x.detach().add_(self.bias)  # first difference


def make():
    return Model(), (torch.ones(2),)


def show():
    (eager, args), compiled = make(), torch.compile(make()[0], backend="aot_eager")
    eager(*args).sum().backward()
    compiled(*make()[1]).sum().backward()
    return eager.bias.grad, compiled.bias.grad


def make_workaround():
    """Compute the result out of place, and copy it to the input."""

    class Copying(Model):
        def forward(self, x):
            y = x.detach() + self.bias
            x.copy_(y.detach())
            return y

    return Copying(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = got is None
    print(f"{'BUG' if bug else 'ok'}: the gradient of bias is {got}, eager's is {expected}")
    raise SystemExit(bug)

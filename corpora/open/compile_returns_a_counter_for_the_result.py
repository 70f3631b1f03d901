# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD031"
# title = "torch.compile: a module that counts its calls and keeps its output returns the counter"
# harm = "silently wrong"
# reach = "everyday"
# reach-because = "a moving average and a counter of steps, both updated in place in forward"
# evidence = [
#     "https://github.com/Danfoa/symmetric_learning/blob/0385cfe2c7951e4d3ed454a42268bb9be2a1ab01/symm_learning/nn/normalization.py",
# ]
# topics = ["buffers", "moving-averages"]
# cause = """
# The graph returns the new value of `last`, which has a gradient, before the outputs of the model. The
# counter is updated inside of the graph. `create_functionalized_fn` replaces an output by an input that is
# returned, but counts without the values that come first, and so puts the counter where the result
# belongs."""
# path = "compile:aot_eager@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "dtype", "fresh"]]
# fix = "mutated_inputs_are_returned_in_their_places"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_functorch/_aot_autograd/graph_capture_wrappers.py, create_functionalized_fn: flat_outs"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "fixed"
# ///
"""The compiled model returns its counter, tensor(1), instead of `x * weight`.

The graph returns the new value of `last`, which has a gradient, before the outputs of the model. The counter
is updated inside of the graph. `create_functionalized_fn` replaces an output by an input that is returned,
but counts without the values that come first, and so puts the counter where the result belongs.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.register_buffer("count", torch.tensor(0))
        self.register_buffer("last", torch.zeros(2))

    def forward(self, x):
        self.count += 1
        y = x * self.weight
        self.last.copy_(y)
        return y  # first difference


def make():
    return Model(), (torch.tensor([3.0, 4.0]),)


def show():
    model, args = make()
    return model(*args), torch.compile(make()[0], backend="aot_eager")(*args)


def make_workaround():
    """Keep the output without its gradient."""

    class Detaching(Model):
        def forward(self, x):
            self.count += 1
            y = x * self.weight
            self.last.copy_(y.detach())
            return y

    return Detaching(), (torch.tensor([3.0, 4.0]),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, compiled {got.tolist()}")
    raise SystemExit(bug)

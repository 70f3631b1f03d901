# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD020"
# title = "torch.compile: parameters of an unused output get zeros as gradients, not None as in eager"
# harm = "wrong later"
# reach = "everyday"
# reach-because = "an auxiliary head that the loss does not use: weight decay makes it smaller"
# evidence = ["https://github.com/pytorch/pytorch/issues/131794"]
# topics = ["unused-results"]
# cause = """
# Optimizers skip a gradient of None, but apply weight decay and momentum for zeros. `CompiledFunction` lets
# autograd fill in zeros for outputs that the loss does not use, and its backward computes zeros from them."""
# path = "compile:aot_eager@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "none", "state", "new"]]
# fix = "no_gradient_flows_from_unused_outputs"
# upstream = "https://github.com/pytorch/pytorch/issues/131794"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/186355"
# upstream-searched = "2026-11-26"
# defended = "https://github.com/pytorch/pytorch/issues/151884: None and zeros are equivalent in practice"
# at-fault = "torch/_functorch/_aot_autograd/runtime_wrappers.py, CompiledFunction.forward"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The loss does not use `aux`. In eager, the gradient of `aux.weight` is None; compiled, it is zeros.

Optimizers skip a gradient of None, but apply weight decay and momentum for zeros. `CompiledFunction` lets
autograd fill in zeros for outputs that the loss does not use, and its backward computes zeros from them.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.aux = nn.Linear(1, 1), nn.Linear(1, 1)

    def forward(self, x):
        return self.body(x), self.aux(x)  # first difference


def make():
    return Model(), (torch.ones(1, 1),)


def show():
    (eager, args), compiled = make(), torch.compile(make()[0], backend="aot_eager")
    eager(*args)[0].sum().backward()
    compiled(*args)[0].sum().backward()
    return eager.aux.weight.grad, compiled.aux.weight.grad


def make_workaround():
    """Run the module that has no part in the result outside of the compiled graph."""

    class Separate(Model):
        def forward(self, x):
            return self.body(x), torch.compiler.disable(self.aux)(x)

    return Separate(), (torch.ones(1, 1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = got is not expected
    print(f"{'BUG' if bug else 'ok'}: aux.weight.grad is {got}, eager's is {expected}")
    raise SystemExit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD052"
# title = "run_decompositions: a buffer updated under no_grad gets an autograd history that grows with calls"
# harm = "wrong later"
# reach = "everyday"
# reach-because = "a running mean or a frozen teacher, updated under no_grad: memory grows with each call"
# evidence = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.spectral_norm.html",
# ]
# topics = ["moving-averages", "no-grad", "buffers"]
# cause = """
# run_decompositions removes the no_grad block and returns the new mean as a BUFFER_MUTATION. `ep.module()`
# copies it into the buffer (`_insert_copy_for_mutations`) in the grad mode of the caller, so that autograd
# records the copy and keeps all earlier calls alive. The value should be detached first. Before
# run_decompositions, the program is right."""
# path = "nonstrict+decompose:module@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "requires-grad", "buffer"]]
# unmasked = [["gradients", "mismatch", "none", "state", "lost"]]
# fix = "write_back_to_parameters_detached"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_unlift.py, _insert_copy_for_mutations: copy_ into the state, outside of no_grad"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model updates a mean under no_grad. Each call of the decomposed program adds to its autograd history.

run_decompositions removes the no_grad block and returns the new mean as a BUFFER_MUTATION. `ep.module()`
copies it into the buffer (`_insert_copy_for_mutations`) in the grad mode of the caller, so that autograd
records the copy and keeps all earlier calls alive. The value should be detached first. Before
run_decompositions, the program is right.
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
    module = torch.export.export(model, args).run_decompositions().module()
    module(*args)
    model, args = make()
    model(*args)
    return model.mean.requires_grad, module.mean.requires_grad


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

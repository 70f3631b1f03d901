# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten of a decomposed program gives a buffer updated under no_grad a history"
# variant-of = "decompose_gives_running_mean_a_history"
# path = "nonstrict+decompose:unflatten@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "requires-grad", "buffer"]]
# fix = "unflatten_writes_back_to_parameters"
# upstream = ""
# at-fault = "torch/export/unflatten.py, _inplace_buffer_and_input_mutations: copy_ with autograd on"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model keeps a mean under no_grad; decomposed and unflattened, it makes the mean require grad.

_inplace_buffer_and_input_mutations writes the new value back by another copy_, as ep.module() does: it
runs under the grad mode of the caller, and autograd records it.
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
            self.mean.lerp_(y, 0.1)
        return y - self.mean


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    module = torch.export.unflatten(torch.export.export(model, args).run_decompositions())
    module(*args)
    return False, module.mean.requires_grad


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: after a call the buffer {'requires grad' if got else 'has no history'}")
    raise SystemExit(bug)

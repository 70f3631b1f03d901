# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "Two buffers that are views of one memory become one tensor"
# path = "nonstrict:unflatten@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [["sharing", "mismatch", "several-tensors-became-one"]]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, _id: shape, stride and memory, not identity"
# ///
"""`whole` and `same` are two tensors in one memory; in the unflattened module they are one object.

What acts on one of them by name (`t_`, `requires_grad_`, `.data =`) acts on both from then on.
"""

import itertools
import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("whole", torch.ones(2, 2))
        self.register_buffer("same", self.whole.detach())

    def forward(self, x):
        return x + self.whole


def make():
    return Model(), (torch.ones(2),)


def look(module):
    """All parameters and buffers by name."""
    state = [*module.named_parameters(remove_duplicate=False)]
    state += module.named_buffers(remove_duplicate=False)
    return dict(state)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    eager, args = make()
    model, args = make()
    ep = torch.export.export(model, args, strict=False)
    candidate = torch.export.unflatten(ep)
    ours, theirs = look(eager), look(candidate)
    pairs = itertools.combinations(sorted(ours.keys() & theirs.keys()), 2)
    wrong = [(a, b) for a, b in pairs if theirs[a] is theirs[b] and ours[a] is not ours[b]]
    for a, b in wrong[:1]:
        print(f"BUG: {a} and {b} are two tensors in eager, one in the unflatten")
    if not wrong:
        print("ok: unflatten shares what eager shares")
    sys.exit(bool(wrong))

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten makes a buffer of a parameter that is read only through a detached buffer"
# path = "strict:unflatten@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch"]]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__, restoring what is aliased or unused"
# ///
"""`data` is the detached parameter `w`: after strict export, unflatten has a module without parameters.

Strict export leaves `w` out of the signature, as nothing reads it under that name. The loop that brings
such names back asks whether `_id(w)` is that of a buffer, and _TensorID tells no parameter from a detached
tensor on the same memory. So `w` is registered as a buffer, without a gradient.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(1))
        self.register_buffer("data", self.w.detach())

    def forward(self, x):
        return x + self.data


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args, strict=True))
    expected, seen = dict(model.named_parameters()), dict(unflattened.named_parameters())
    bug = expected.keys() != seen.keys()
    print(f"{'BUG' if bug else 'ok'}: eager has the parameters {list(expected)}, unflatten {list(seen)}")
    sys.exit(bug)

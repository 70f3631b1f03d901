# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten reads a parameter where the model reads a detached buffer of it, unnoticed"
# path = "nonstrict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "steps", "operands", "buffer", "parameter"]]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__, consts_map"
# ///
"""The model compares with the buffer `data`; the unflattened module does so with the parameter `w`.

As in unflatten_takes_parameter_for_buffer.py, but the buffer is only read, and no gradient flows, so that
nothing is raised and all outputs are right. The unflattened module holds a copy of each of the two: who puts
other values into its `data` changes nothing.
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
        return x > self.data


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(make()[0], args, strict=False))
    for module in (model, unflattened):
        module.data.fill_(2)
    expected, seen = model(*args), unflattened(*args)
    bug = not torch.equal(expected, seen)
    print(f"{'BUG' if bug else 'ok'}: with 2 in data, eager gives {expected}, unflatten gives {seen}")
    sys.exit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "Two empty parameters become one by save, load and unflatten"
# path = "nonstrict+reload:unflatten@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [["sharing", "mismatch", "several-tensors-became-one"]]
# affected = "2.13.0"
# at-fault = "torch/export/pt2_archive/_package_weights.py, group_weights: storage_ptr of the empty"
# ///
"""Two empty parameters are one memory after save and load, and one parameter after unflatten as well.

group_weights takes tensors for views of one storage if their data_ptr() agrees, which is 0 for all that are
empty. They are loaded as views of one tensor, and unflatten takes what agrees in storage for one parameter.
"""

import io
import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.ones(0))
        self.b = nn.Parameter(torch.ones(0))

    def forward(self, x):
        return x + self.a.sum() + self.b.sum()


def make():
    return Model(), (torch.ones(1),)


def reload(ep):
    buffer = io.BytesIO()
    torch.export.save(ep, buffer)
    buffer.seek(0)
    return torch.export.load(buffer)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    loaded = torch.export.unflatten(reload(torch.export.export(model, args, strict=False)))
    expected, seen = model.a is model.b, loaded.a is loaded.b
    bug = expected != seen
    print(f"{'BUG' if bug else 'ok'}: a and b are one parameter: {expected} in eager, {seen} after loading")
    sys.exit(bug)

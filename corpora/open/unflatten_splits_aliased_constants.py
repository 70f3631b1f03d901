# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten gives each name of a shared non-persistent buffer a tensor of its own"
# path = "nonstrict:unflatten@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [["sharing", "mismatch", "one-tensor-became-several"]]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__, the loop over constants"
# ///
"""Two modules share a non-persistent buffer: after unflatten, what one writes the other never sees.

The loop that restores constants means to clone each of them once, but looks the clone up under the
identity of the clone itself (`_id(constant)` after `constant = constant.clone()`), so every name gets a
clone of its own. One call leaves 1 in child.count; in the unflattened module it leaves 0.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1), persistent=False)
        self.child = nn.Module()
        self.child.register_buffer("count", self.count, persistent=False)

    def forward(self, x):
        self.count.add_(1)
        return x + self.count


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(make()[0], args, strict=False))
    model(*args)
    unflattened(*args)
    expected, seen = model.child.count, unflattened.child.count
    bug = not torch.equal(expected, seen)
    print(f"{'BUG' if bug else 'ok'}: eager leaves {expected} in child.count, unflatten leaves {seen}")
    sys.exit(bug)

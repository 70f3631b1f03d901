# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD259"
# title = "unflatten: two parameters that share memory become one, and their gradients are added"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "weight_norm on a layer whose weight is tied: gradients are added"
# topics = ["tied-weights", "norms"]
# cause = """
# weight_norm makes a new parameter in the memory of the weight. In eager there are two parameters, with a
# gradient each. unflatten identifies tensors by memory, sizes, strides and offset (`_id`), so that the two
# become one parameter, which gets the sum."""
# path = "nonstrict:unflatten@cpu"
# check = "sharing"
# kind = "mismatch"
# stage = "lower"
# status = "open"
# signatures = [["sharing", "mismatch", "several-tensors-became-one"]]
# fix = "unflatten_tells_parameters_by_identity"
# upstream = "https://github.com/pytorch/pytorch/pull/125758"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__: _id"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Embedding and output layer have tied weights, and the embedding has weight_norm. unflatten makes one
parameter of two.

weight_norm makes a new parameter in the memory of the weight. In eager there are two parameters, with a
gradient each. unflatten identifies tensors by memory, sizes, strides and offset (`_id`), so that the two
become one parameter, which gets the sum.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(3, 2)
        self.out = nn.Linear(2, 3, bias=False)
        self.out.weight = self.embed.weight
        nn.utils.parametrizations.weight_norm(self.embed)

    def forward(self, ids):
        return self.out(self.embed(ids))


def make():
    torch.manual_seed(0)
    return Model(), (torch.arange(3),)


def show():
    model, args = make()
    copy = torch.export.unflatten(torch.export.export(model, args))
    counts = [len(list(each.parameters())) for each in (model, copy)]
    return counts[0], counts[1]


def make_workaround():
    """Give each parameter its own memory."""

    class Copying(Model):
        def __init__(self):
            super().__init__()
            self.out.weight = nn.Parameter(self.out.weight.detach().clone())

    torch.manual_seed(0)
    return Copying(), (torch.arange(3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager has {expected} parameters, the unflattened model {got}")
    raise SystemExit(bug)

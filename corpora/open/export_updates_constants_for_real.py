# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "export itself performs the in-place updates of tensor constants"
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "constant"]]
# affected = "2.13.0"
# at-fault = "torch/fx/experimental/proxy_tensor.py, proxy_call"
# ///
"""Exporting a model must not change it: here it moves a counter from 0 to 1.

A tensor that is a plain attribute is not made fake by non-strict export, so the in-place op runs on the
user's own tensor while the model is traced, and the exported program starts from the moved value.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = torch.zeros(1)

    def forward(self, x):
        self.count.add_(1)
        return x + self.count


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    torch.export.export(model, args, strict=False)
    bug = model.count.item() != 0
    print(f"{'BUG' if bug else 'ok'}: count is 0 before export, {model.count.item():g} after it")
    sys.exit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "strict export of x.data makes a program that returns fake tensors"
# path = "strict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "kind"]]
# affected = "2.13.0"
# at-fault = "torch/export/_trace.py, _export_for_training: fake constants are looked for if not strict"
# ///
"""The program does not read its input: what it returns is a FakeTensor, without any data.

Reading .data makes a tensor that make_fx has no proxy for, so it is lifted as a constant of the graph,
fake as it is. Non-strict export looks for fake constants and raises; the same check is left out of strict
export, which ends in the same make_fx.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x.data + 1


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    program = torch.export.export(model, args, strict=True).module()
    expected, seen = model(*args), program(*args)
    bug = type(seen) is not torch.Tensor
    print(f"{'BUG' if bug else 'ok'}: eager returns {expected}, the exported program {seen}")
    sys.exit(bug)

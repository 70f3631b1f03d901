# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "What unflatten returns cannot be deep-copied"
# path = "nonstrict+duplicate:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "RuntimeError", "_tensor.py:__deepcopy__"]]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__: self.input_placeholders"
# ///
"""copy.deepcopy fails on every unflattened module; on what ep.module() returns it works.

The module keeps a list of nodes, `input_placeholders`. A graph knows how to copy itself, a node alone does
not: its metadata is copied as well, with fake tensors, which cannot be. Without that list the copy works.
"""

import copy
import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x + 1


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args, strict=False))
    copy.deepcopy(model)
    try:
        copy.deepcopy(unflattened)
    except RuntimeError as error:
        print(f"BUG: eager can be copied, unflatten raises {str(error).partition('.')[0]}")
        sys.exit(1)
    print("ok: unflatten can be copied")

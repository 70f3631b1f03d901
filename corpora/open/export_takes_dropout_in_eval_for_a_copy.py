# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "dropout in eval mode is traced as a copy: later shapes are baked in wrongly"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError", "Given expected input with shape but got input"]]
# affected = "2.13.0"
# at-fault = "torch/_decomp/decompositions.py, dropout: returns input.clone()"
# ///
"""Dropout in eval mode returns its input, so that `y.t_()` changes `z` too; the fake `z` stays as it was.

The shape that layer_norm is called with is then that of a tensor which does not exist when the program runs,
and the call raises. The cause is that of export_foretells_strides_of_dropout: the decomposition that traces
it returns `input.clone()`.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        y = x + 1
        z = nn.functional.dropout(y, 0.5, False)
        y.t_()
        return nn.functional.layer_norm(z, z.shape[-1:])


def make():
    return Model(), (torch.ones(3, 2),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    expected = model(*args).shape
    program = torch.export.export(model, args, strict=False).module()
    try:
        seen = program(*args).shape
    except RuntimeError as error:
        seen = str(error)
    bug = expected != seen
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {seen}")
    sys.exit(bug)

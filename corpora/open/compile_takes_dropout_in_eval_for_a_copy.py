# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "compiled, what is written to the result of dropout in eval mode does not reach its input"
# path = "compile:aot_eager@cpu"
# check = "inputs"
# kind = "mismatch"
# status = "open"
# signatures = [["inputs", "mismatch", "value"]]
# affected = "2.13.0"
# at-fault = "torch/_decomp/decompositions.py, dropout: returns input.clone()"
# ///
"""Dropout in eval mode returns its input, so that `add_` writes to `x`; compiled, `x` stays as it was.

The cause is that of export_foretells_strides_of_dropout: the decomposition by which AOTAutograd traces it
returns `input.clone()`. With backend="eager" all is well.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return nn.functional.dropout(x, 0.5, False).add_(1)


def make():
    return Model(), (torch.ones(2),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, (expected,) = make()
    model(expected)
    model, (seen,) = make()
    torch.compile(model, backend="aot_eager")(seen)
    bug = not torch.equal(expected, seen)
    print(f"{'BUG' if bug else 'ok'}: eager makes of the input {expected.tolist()}, compiled {seen.tolist()}")
    sys.exit(bug)

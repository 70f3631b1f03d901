# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "compiled, a transposed tensor that is written to in place is contiguous afterwards"
# path = "compile:aot_eager@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "stride", "fresh"]]
# fix = "functionalized_writes_keep_strides"
# affected = "2.13.0"
# upstream = "https://github.com/pytorch/pytorch/issues/133512"
# at-fault = "aten/src/ATen/FunctionalTensorWrapper.cpp, replace_: takes the strides of the functional result"
# ///
"""`masked_fill_` leaves the strides of a tensor alone; compiled, the result is contiguous.

AOTAutograd runs `masked_fill` instead, and puts its result in the place of the tensor. That result is
contiguous whatever the first argument is. `scatter_`, `index_add_`, `index_copy_`, `cumsum_`, `tril_` and
`addmm_` do the same. A `view` or an `as_strided` of the result then fails, or reads other elements.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x.t().clone().masked_fill_(x < 0, 0)


def make():
    return Model(), (torch.ones(2, 2),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    expected = model(*args).stride()
    seen = torch.compile(model, backend="aot_eager")(*args).stride()
    bug = seen != expected
    print(f"{'BUG' if bug else 'ok'}: eager gives strides {expected}, compiled code {seen}")
    raise SystemExit(bug)

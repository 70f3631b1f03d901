# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD408"
# title = "torch.export: ValueError for linear_cross_entropy with options and a dynamic batch size"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a language model with a chunked loss, exported with a dynamic batch size"
# topics = ["losses", "dynamic-sizes"]
# cause = """
# `LinearCrossEntropyOptions._adjust` computes the chunk size from the batch size, which is a SymInt here.
# `__post_init__` of the new options takes only an int, and raises. It should take a SymInt too."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# stage = "export"
# status = "open"
# signatures = [
#   [
#     "outputs", "crash", "export", "ValueError", "non_strict_utils.py:__torch_function__",
#     "linear_cross_entropy_options.py:_adjust", "linear_cross_entropy_options.py:__post_init__",
#   ],
# ]
# fix = "chunk_size_of_cross_entropy_may_be_symbolic"
# upstream = "https://github.com/pytorch/pytorch/pull/181574"
# upstream-match = "place"
# upstream-searched = "2026-11-27"
# at-fault = "torch/nn/modules/linear_cross_entropy_options.py, __post_init__: isinstance(..., int)"
# workaround = "none: leave out the options, so that nothing is chunked, or export one batch size"
#
# [tool.exportdiff.versions]
# "2.9.1" = "cannot run"
# "2.11.0" = "cannot run"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model with a chunked linear_cross_entropy is exported with a dynamic batch size. Export raises
ValueError: batch_chunk_size must be positive int or None, got 1.

`LinearCrossEntropyOptions._adjust` computes the chunk size from the batch size, which is a SymInt here.
`__post_init__` of the new options takes only an int, and raises. It should take a SymInt too.
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 3, bias=False)

    def forward(self, x, target):
        options = nn.LinearCrossEntropyOptions()
        return F.linear_cross_entropy(x, self.head.weight, target, options=options)


def make():
    return Model(), (torch.ones(4, 2), torch.tensor([0, 2, 1, 0]))


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.DYNAMIC}, "target": {0: torch.export.Dim.DYNAMIC}}


def show():
    model, args = make()
    torch.export.export(model, args, dynamic_shapes=dynamic_shapes())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except ValueError as error:
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "resize_ of a tensor of dynamic size to plain numbers ends export with an internal error"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "export", "RuntimeError", "tried to directly modify sizes for customized tensor"],
# ]
# affected = "2.13.0"
# at-fault = "c10/core/TensorImpl.cpp, generic_set_sizes_contiguous: numbers go to set_sizes_contiguous"
# ///
"""`resize_(4)` on a tensor whose size is a symbol: "tried to directly modify sizes for customized tensor".

If all the new sizes are numbers, generic_set_sizes_contiguous takes them for those of an ordinary tensor
and calls set_sizes_contiguous, which refuses any tensor with symbolic sizes. With a symbol among the new
sizes, and with static shapes, the same line exports.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        y = x + 1
        return y.resize_(4).shape[0]


def make():
    return Model(), (torch.zeros(2),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.AUTO}}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    model(*args)
    model, args = make()
    try:
        torch.export.export(model, args, dynamic_shapes=dynamic_shapes(), strict=False)
        seen = "nothing"
    except Exception as error:
        seen = f"{type(error).__name__}: {error}"
    bug = seen.startswith("RuntimeError")
    print(f"{'BUG' if bug else 'ok'}: eager raises nothing, export raises {seen[:120]}")
    sys.exit(bug)

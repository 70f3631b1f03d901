# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "export asserts where only one size of a named Dim is left"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "AssertionError",
#         "symbolic_shapes.py:prettify_results",
#         "symbolic_shapes.py:_process_derived_dim_roots",
#         "dynamic_shapes.py:__init__",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/fx/experimental/symbolic_shapes.py, _process_derived_dim_roots: a Dim of one value"
# ///
"""A branch on an even size, of sizes 3 to 5: export should say that this cannot be dynamic, and asserts.

For sizes up to 6 it says "Constraints violated (n)!" and suggests `_n = Dim('_n', max=3)`, `n = 2*_n`. Here
only 4 is left, for which `_n` would go from 2 to 2. To word the suggestion, _process_derived_dim_roots makes
a Dim of it all the same, and a Dim wants max > min: "Cannot create Dim with inconsistent min=2, max=2".
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x + 1 if x.shape[0] % 2 == 0 else x


def make():
    return Model(), (torch.ones(4),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("n", min=3, max=5)}}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    try:
        torch.export.export(model, args, dynamic_shapes=dynamic_shapes(), strict=False)
        seen = "nothing"
    except Exception as error:
        seen = f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
    bug = seen.startswith("AssertionError:")
    print(f"{'BUG' if bug else 'ok'}: export raises {seen}")
    sys.exit(bug)

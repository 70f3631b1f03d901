# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "an input of a shared dynamic size that becomes a scalar by .data fails in guard production"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "IndexError",
#         "symbolic_shapes.py:produce_guards",
#         "symbolic_shapes.py:produce_guards_verbose",
#         "symbolic_shapes.py:get_expression",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/fx/experimental/symbolic_shapes.py, produce_guards_verbose, over the mutated fake input"
# ///
"""`x` and `y` have one size, a dynamic one; the model makes a scalar of `x`, whose size is then asked for.

That the two sizes are equal is checked after tracing, and get_expression reads them from the fake inputs as
the model left them. The cause is that of export_fails_on_rank_changed_in_place; `x.set_(self.k)` does the
same.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("k", torch.tensor(1.0))

    def forward(self, x, y):
        x.data = self.k
        return y + 1


def make():
    return Model(), (torch.ones(2), torch.ones(2))


def dynamic_shapes():
    n = torch.export.Dim("n")
    return {"x": {0: n}, "y": {0: n}}


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
    bug = seen.startswith("IndexError")
    print(f"{'BUG' if bug else 'ok'}: eager raises nothing, export raises {seen[:120]}")
    sys.exit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "export fails on a branch that is given a tensor of fixed size whose stride is dynamic"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "InternalTorchDynamoError",
#         "builder.py:_automatic_dynamic",
#         "builder.py:record_automatic_dynamic",
#         "__init__.py:__hash__",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/_dynamo/variables/builder.py, record_automatic_dynamic: candidates.get(i_stride)"
# ///
"""A column of `x` has two elements, and between them lies the dynamic size of a row.

cond, map and their like have Dynamo trace their functions. record_automatic_dynamic looks each stride up in a
dict; the stride is a SymInt, which cannot be hashed: "unhashable type: non-nested SymInt". A tensor with a
dynamic size never gets there, _automatic_dynamic returns before; nobody thought of a dynamic stride alone.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x[:, 0],))


def make():
    return Model(), (torch.ones(2, 3),)


def dynamic_shapes():
    return {"x": {1: torch.export.Dim("n")}}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    model(*args)
    model, args = make()
    try:
        torch.export.export(model, args, dynamic_shapes=dynamic_shapes(), strict=False)
        seen = "nothing"
    except Exception as error:
        seen = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    bug = "unhashable" in seen
    print(f"{'BUG' if bug else 'ok'}: eager raises nothing, export raises {seen[:120]}")
    sys.exit(bug)

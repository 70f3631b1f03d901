# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "a constant whose only view is dropped ends export with StopIteration"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "StopIteration",
#         "lift_constants_pass.py:_materialize_and_lift_constants",
#         "lift_constants_pass.py:lift_constants_pass",
#         "lift_constants_pass.py:_unused_constant",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/_export/passes/lift_constants_pass.py, _unused_constant: next() of no users"
# ///
"""A constant is looked at and nothing is made of it: export dies of a bare StopIteration.

The traced graph keeps a get_attr node for the constant without any user, and _unused_constant takes the
first user without asking whether there is one.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.ones(2)

    def forward(self, x):
        self.table.detach()
        return x + 1


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    model(*args)
    model, args = make()
    try:
        torch.export.export(model, args, strict=False)
        seen = "nothing"
    except Exception as error:
        seen = f"{type(error).__name__}: {error}"
    bug = seen.startswith("StopIteration")
    print(f"{'BUG' if bug else 'ok'}: eager raises nothing, export raises {seen[:120]}")
    sys.exit(bug)

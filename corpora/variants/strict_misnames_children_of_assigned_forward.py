# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export(strict=True): unflatten fails on a model that assigns self.forward in __init__"
# variant-of = "strict_misnames_modules_in_containers"
# path = "strict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs", "crash", "lower", "AttributeError", "unflatten.py:run_from", "unflatten.py:__init__",
#         "graph.py:call_module",
#     ],
# ]
# fix = "strict_names_modules_of_bound_methods"
# upstream = ""
# at-fault = "torch/_dynamo/variables/nn_module.py, record_nn_module_stack: re.sub(...)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "fixed"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The child is recorded as `forward.__self__.linear`, and unflatten raises "`forward` is not an nn.Module".

Dynamo reaches the child through the bound method that is assigned to `forward`. Names in nn_module_stack are
made of these expressions.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(1, 1)
        self.forward = self.run

    def run(self, x):
        return self.linear(x)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    torch.export.unflatten(torch.export.export(model, args, strict=True))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AttributeError as error:
        sys.exit(f"BUG: unflatten raises {error}")
    print("ok: unflatten raises nothing")

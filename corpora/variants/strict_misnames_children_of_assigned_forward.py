# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export(strict=True): unflatten fails if __init__ assigns self.forward"
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
# fix = "strict_names_modules_as_registered"
# upstream = ""
# at-fault = "torch/_dynamo/variables/nn_module.py, record_nn_module_stack: name made of source.name"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "fixed"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`__init__` assigns `self.forward = self.run`. unflatten of the strict export raises "`forward` is not an
nn.Module".

`record_nn_module_stack` makes the name of a module from the expression by which Dynamo reached it. This is
`forward.__self__.linear` here, as Dynamo reaches the child through the bound method. The recorded name should
be `linear`, under which the module is registered.
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

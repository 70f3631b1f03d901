# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten runs the parent in the place of a child named graph_module"
# variant-of = "module_fails_on_buffer_named_graph"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "unflatten_keeps_graph_modules_under_private_name"
# upstream = ""
# at-fault = "torch/export/unflatten.py, finalize of InterpreterModule and UnflattenedModule: graph_module"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`graph_module` returns two tensors, which Model multiplies; after unflatten they are multiplied twice.

finalize keeps the GraphModule of the whole module in `__dict__` under that name, where it hides the child:
the call of the child runs all of Model.
"""

import sys

import torch


class Child(torch.nn.Module):
    def forward(self, x):
        return x + 1, x + 2


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.graph_module = Child()

    def forward(self, x):
        a, b = self.graph_module(x)
        return a * 10, b * 10


def make():
    return Model(), (torch.tensor(5.0),)


def show():
    model, args = make()
    return model(*args), torch.export.unflatten(torch.export.export(model, args))(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: {expected} in eager, {got} after unflatten")
    raise SystemExit(bug)

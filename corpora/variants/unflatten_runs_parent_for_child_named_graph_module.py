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
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/export/unflatten.py, finalize of InterpreterModule and UnflattenedModule: graph_module"
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


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    expected, seen = model(*args), torch.export.unflatten(torch.export.export(model, args))(*args)
    bug = expected != seen
    print(f"{'BUG' if bug else 'ok'}: {expected} in eager, {seen} after unflatten")
    raise SystemExit(bug)

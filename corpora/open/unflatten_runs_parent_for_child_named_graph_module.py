# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD326"
# title = "unflatten: runs the whole model instead of the submodule named graph_module"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "a child called graph_module"
# topics = ["names"]
# cause = """
# `finalize` stores the GraphModule of the whole model in `__dict__["graph_module"]`, which hides the child of
# that name. So the call of the child runs the whole model. The attribute should have a private name."""
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
"""The child `graph_module` returns two tensors, which the model multiplies by 10. After unflatten, they are
multiplied by 100.

`finalize` stores the GraphModule of the whole model in `__dict__["graph_module"]`, which hides the child of
that name. So the call of the child runs the whole model. The attribute should have a private name.
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
        a, b = self.graph_module(x)  # first difference
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

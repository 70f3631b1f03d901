# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten splits a module that calls torch.cond if there is a no_grad block anywhere"
# variant-of = "export_drops_no_grad_around_branches"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "run",
#         "RuntimeError",
#         "Expected positional argument for parameter but one was",
#     ],
# ]
# fix = "split_module_keeps_get_attr_in_place"
# upstream = ""
# at-fault = "torch/_export/utils.py, sequential_split (torch/fx/passes/split_module.py, split_module)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""torch.cond in a submodule and no_grad elsewhere: the unflattened module cannot be called.

To wrap the no_grad region, export splits the graph, and split_module moves every get_attr node, such as
those of the branches, to the front. The nodes of `child` are then no longer in one run: its branches come
before `x * 2`, the rest after. unflatten makes two modules named `child`. The second replaces the first. Its
graph expects the branches as inputs, and the first call passes none.
"""

import sys

import torch


class Child(torch.nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))


class Model(torch.nn.Module):
    def forward(self, x):
        x = self.child(x * 2)
        with torch.no_grad():
            return x + 1


def make():
    model = Model()
    model.child = Child()
    return model, (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.export.unflatten(torch.export.export(model, args))(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    print(f"ok: eager gives {expected}, unflatten {got}")

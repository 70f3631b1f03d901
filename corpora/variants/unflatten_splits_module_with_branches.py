# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: RuntimeError if a submodule calls torch.cond and there is a no_grad block elsewhere"
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
"""A submodule calls torch.cond, and its parent has a no_grad block. The unflattened module raises when it is
called.

Export splits the graph at the block. `split_module` moves the get_attr nodes of the branches to the front,
away from the other nodes of the submodule. unflatten makes two modules of it, and the second replaces the
first. The nodes should stay where they are.
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

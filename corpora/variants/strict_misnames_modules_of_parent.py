# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "strict export: records a wrong name for a module that a child calls through its parent"
# variant-of = "strict_misnames_modules_in_containers"
# path = "strict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "calls", "unknown"]]
# fix = "strict_names_modules_as_registered"
# upstream = ""
# at-fault = "torch/_dynamo/variables/nn_module.py, record_nn_module_stack: name made of source.name"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A child calls `self.parent.norm`. The program records that `child.parent.norm` runs; no module has that
name.

`record_nn_module_stack` makes the name of a module from the expression by which Dynamo reached it. It should
be `norm`, under which the module is registered. unflatten makes modules of the recorded names.
"""

import sys

import torch
from torch import nn


class Child(nn.Module):
    def __init__(self, parent):
        super().__init__()
        object.__setattr__(self, "parent", parent)

    def forward(self, x):
        return self.parent.norm(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(2)
        self.child = Child(self)

    def forward(self, x):
        return self.child(x)


def make():
    return Model(), (torch.ones(1, 2),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, strict=True)
    names = {name for node in ep.graph.nodes for name, _ in node.meta.get("nn_module_stack", {}).values()}
    return [], sorted(names - {name for name, _ in model.named_modules()})


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: recorded under names that no module has: {got}")
    raise SystemExit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten of a strict export: AttributeError for the child of a module that has two names"
# variant-of = "unflatten_runs_child_of_other_name"
# path = "strict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "AttributeError", "object has no attribute"]]
# fix = "unflatten_shares_children_under_one_name"
# upstream = ""
# at-fault = "torch/export/unflatten.py, _ModuleFrame.__init__: base_module_frame.module._modules"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`a` and `b` are one module, with a child. Unflattened after strict export, the model raises AttributeError.

Strict export records the first call under `b`, whose buffer is read, and the second under `a`. unflatten
gives both the same children, so that `a.child` replaces `b.child`, which is never finished. Then it merges
the two calls and uses the unfinished one.
"""

import sys

import torch
from torch import nn


class Parent(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = nn.Tanh()
        self.register_buffer("step", torch.ones(1))

    def forward(self, x):
        return self.child(x)


class Model(nn.Module):
    def forward(self, x):
        return self.a(self.b.step) + self.a(x)


def make():
    model = Model()
    model.a = model.b = Parent()
    return model, (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args, strict=True))
    return model(*args), unflattened(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AttributeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    print(f"ok: eager gives {expected}, unflatten {got}")

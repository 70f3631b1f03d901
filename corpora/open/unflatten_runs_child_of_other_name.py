# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD274"
# title = "unflatten of a strict export: runs the wrong graph of a child if its parent has two names"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "one block under two names, called under both with other flags or functions, strict export"
# topics = ["shared-modules", "names"]
# cause = """
# Strict export files the first call under `a`, and the second under `b`. unflatten gives both the same
# children, but counts the calls of a child for each name. So the graph of `b.child` replaces that of
# `a.child`."""
# path = "strict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "unflatten_shares_children_under_one_name"
# upstream = "https://github.com/pytorch/pytorch/pull/137013"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, _ModuleFrame.__init__: base_module_frame.module._modules"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`a` and `b` are one module. Its child computes neg in the first call and exp in the second. Unflattened, it
computes exp in both.

Strict export files the first call under `a`, and the second under `b`. unflatten gives both the same
children, but counts the calls of a child for each name. So the graph of `b.child` replaces that of `a.child`.
"""

import sys

import torch
from torch import nn


class Child(nn.Module):
    def forward(self, x, fn):
        return fn(x)  # first difference


class Parent(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x, fn):
        return self.child(x, fn)


class Model(nn.Module):
    def forward(self, x):
        return self.a(x, torch.neg) + self.b(x, torch.exp)


def make():
    model = Model()
    model.a = model.b = Parent()
    return model, (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args, strict=True))
    return model(*args), unflattened(*args)


def workaround_options():
    """Export without strict, which is the default."""
    return {"strict": False}


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)

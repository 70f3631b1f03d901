# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD224"
# title = "_swap_modules: the new module gets None for an argument of which it reads the shape only"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a module swapped by _swap_modules that reads only the shape of an argument"
# topics = ["arguments"]
# cause = """
# The shape is a constant in the graph, so that nothing uses the argument, and `_swap_modules` removes the
# operator that computes it as dead code. Then it passes None, as the argument has no node. It should keep
# arguments of preserved calls."""
# path = "nonstrict+preserve+swapped:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "AttributeError"]]
# fix = "swap_passes_what_nothing_else_reads"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_swap.py, _swap_modules: eliminate_dead_code before the modules are in the graph"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The child reads only the shape of its argument. If it is swapped for itself, it is called with None:
AttributeError.

The shape is a constant in the graph, so that nothing uses the argument, and `_swap_modules` removes the
operator that computes it as dead code. Then it passes None, as the argument has no node. It should keep
arguments of preserved calls.
"""

import sys

import torch
from torch.export._swap import _swap_modules


class Child(torch.nn.Module):
    def forward(self, x):
        return torch.ones(x.shape)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x + 1)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("child",))
    _swap_modules(ep, {"child": model.child})(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AttributeError as error:
        sys.exit(f"BUG: with the child swapped for itself, the program raises {error!r}")
    print("ok: with the child swapped for itself, the program raises nothing")

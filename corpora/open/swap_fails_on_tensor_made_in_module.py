# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD219"
# title = "_swap_modules: RuntimeError if the replaced module creates a tensor in forward"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a module swapped by _swap_modules that calls torch.tensor in forward"
# topics = ["constants"]
# cause = """
# Export makes this tensor an attribute of the child. `_swap_module_helper` erases the operators of the child,
# but not the node that reads the attribute, and the new child does not have it."""
# path = "nonstrict+preserve+swapped:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "RuntimeError"]]
# fix = "swap_removes_what_swapped_operators_read"
# upstream = ""
# at-fault = "torch/export/_swap.py, _swap_module_helper: erase_nodes(gm, nodes)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A child that calls `torch.tensor(1.0)` in forward is swapped for itself: RuntimeError.

Export makes this tensor an attribute of the child. `_swap_module_helper` erases the operators of the child,
but not the node that reads the attribute, and the new child does not have it.
"""

import sys

import torch
from torch.export._swap import _swap_modules


class Child(torch.nn.Module):
    def forward(self, x):
        return x + torch.tensor(1.0)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("child",))
    _swap_modules(ep, {"child": model.child})


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        sys.exit(f"BUG: the child is swapped for itself, which raises {error!r}")
    print("ok: the child is swapped for itself, which raises nothing")

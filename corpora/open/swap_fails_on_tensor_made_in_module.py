# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export._swap: RuntimeError for a module that makes a tensor"
# severity = "C"
# severity-because = "a module swapped by _swap_modules that calls torch.tensor in forward"
# cause = """
# _swap_module_helper erases the operators of the module, and not the get_attr nodes of what they have read:
# the tensor is an attribute of the module that is no longer there."""
# path = "nonstrict+preserve+swapped:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "RuntimeError"]]
# fix = "swap_removes_what_swapped_operators_read"
# upstream = ""
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/export/_swap.py, _swap_module_helper: erase_nodes(gm, nodes)"
# ///
"""The child cannot be swapped for itself: Graph.lint finds no attribute child.lifted_tensor_0.

Export makes the tensor an attribute of the child. What is swapped in does not have it.
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


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("child",))
    seen = None
    try:
        _swap_modules(ep, {"child": model.child})
    except RuntimeError as error:
        seen = error
    bug = seen is not None
    print("BUG:" if bug else "ok:", f"the child is swapped for itself, which raises {seen!r}")
    raise SystemExit(bug)

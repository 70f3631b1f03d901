# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD222"
# title = "_swap_modules: the new module runs after an in-place write that comes later in forward"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "a module swapped by _swap_modules, and a later write to what it reads"
# topics = ["in-place"]
# cause = """
# `_swap_module_helper` appends the call of the new module to the graph, and sorts the graph with
# `legalize_graph`. This looks only at which values a node reads, and not at in-place writes."""
# path = "nonstrict+preserve+swapped:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# fix = "swap_keeps_the_order_of_operators"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_swap.py, _swap_module_helper: legalize_graph(gm)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The child reads x before `x.mul_(2)`. If the child is swapped for itself, it reads x after it.

`_swap_module_helper` appends the call of the new module to the graph, and sorts the graph with
`legalize_graph`. This looks only at which values a node reads, and not at in-place writes.
"""

import sys

import torch
from torch.export._swap import _swap_modules


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = torch.nn.ReLU()

    def forward(self, x):
        x = x + 1
        y = self.child(x)  # first difference
        x.mul_(2)
        return x + y


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("child",))
    return model(*args), _swap_modules(ep, {"child": model.child})(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager returns {expected}, with the child swapped for itself {got}")
    raise SystemExit(bug)

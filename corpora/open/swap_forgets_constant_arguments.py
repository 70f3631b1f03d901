# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD220"
# title = "_swap_modules: the new module gets None for an argument that is a bool or a number"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "a module swapped by _swap_modules that takes a flag: another branch"
# topics = ["arguments"]
# cause = """
# `_construct_inputs` passes None for each argument that has no node. It should pass the constants from the
# signature of the call."""
# path = "nonstrict+preserve+swapped:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# fix = "swap_passes_constants_to_modules"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_swap.py, _construct_inputs: tree_unflatten_args.append(None)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The child is swapped for itself. It is called with None instead of True, and runs its other branch.

`_construct_inputs` passes None for each argument that has no node. It should pass the constants from the
signature of the call.
"""

import sys

import torch
from torch.export._swap import _swap_modules


class Child(torch.nn.Module):
    def forward(self, x, twice):
        return x * 2 if twice else x  # first difference


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x, True)


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

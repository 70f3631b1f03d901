# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD285"
# title = "_swap_modules: the new module does not run if its result is unused"
# harm = "wrong later"
# reach = "contrived"
# reach-because = "a submodule called only for what it records, in a call of the private _swap_modules"
# topics = ["unused-results", "buffers"]
# cause = """
# `_remove_extraneous_pytrees` calls `eliminate_dead_code`, which removes calls of modules whose result is
# unused. It should keep them, as a module can have side effects."""
# path = "nonstrict+preserve+swapped:module@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "value", "buffer"]]
# fix = "swap_keeps_modules_whose_results_are_unread"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_swap.py, _remove_extraneous_pytrees: gm.graph.eliminate_dead_code()"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A child counts its calls, and the model does not use its result. The module that is swapped in never runs.

`_remove_extraneous_pytrees` calls `eliminate_dead_code`, which removes calls of modules whose result is
unused. It should keep them, as a module can have side effects.
"""

import sys

import torch
from torch.export._swap import _swap_modules


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        self.calls.add_(1)  # first difference
        return x * 2


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Counter()

    def forward(self, x):
        self.child(x)
        # Several operators: in a shorter graph, _swap_modules also moves the call behind the return.
        for _ in range(9):
            x = x.sin()
        return x


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("child",))
    new = Counter()
    _swap_modules(ep, {"child": new})(*args)
    model(*args)
    return model.child.calls, new.calls


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager counts {expected}, the module that was swapped in {got}")
    raise SystemExit(bug)

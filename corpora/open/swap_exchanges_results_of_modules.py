# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD218"
# title = "_swap_modules (private): the caller gets the first result of the new module, not the second"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "a module with several results, swapped by _swap_modules: results are exchanged"
# topics = ["containers"]
# cause = """
# `_deconstruct_outputs` numbers only those results that the graph uses. So the second result gets index 0,
# and item 0 of what the new module returns is the first result."""
# path = "nonstrict+preserve+swapped:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# fix = "swap_takes_results_by_name"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_swap.py, _deconstruct_outputs: enumerate(orig_outputs)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model uses the second result of its child. If the child is swapped for itself, it gets the first.

`_deconstruct_outputs` numbers only those results that the graph uses. So the second result gets index 0, and
item 0 of what the new module returns is the first result.
"""

import sys

import torch
from torch.export._swap import _swap_modules


class Child(torch.nn.Module):
    def forward(self, x):
        return x + 1, x * 2


class Model(torch.nn.Sequential):
    def forward(self, x):
        return self[0](x)[1]  # first difference


def make():
    return Model(Child()), (torch.ones(1) * 3,)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("0",))
    return model(*args), _swap_modules(ep, {"0": model[0]})(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, swapped {got}")
    raise SystemExit(bug)

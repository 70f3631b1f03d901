# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD420"
# title = "_swap_modules: the new module ignores the weights that functional_call gives the old one"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "a module swapped by _swap_modules that functional_call runs with other weights"
# topics = ["autograd"]
# cause = """
# The new module gets the arguments of the call alone. `_swap_module_helper` does not look at what else the
# operators of the old module read. It should refuse to swap a module that reads computed tensors that are no
# arguments."""
# path = "nonstrict+preserve+swapped:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# fix = "swap_refuses_modules_that_read_more"
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "torch/export/_swap.py, _swap_module_helper: orig_inputs is not used"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model runs a layer with the double of its weights. If the layer is swapped for itself, it computes with
its own weights.

The new module gets the arguments of the call alone. `_swap_module_helper` does not look at what else the
operators of the old module read. It should refuse to swap a module that reads computed tensors that are no
arguments.
"""

import sys

import torch
from torch.export._swap import _swap_modules


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(1, 1)

    def forward(self, x):
        weights = {name: 2 * weight for name, weight in self.head.named_parameters()}
        return torch.func.functional_call(self.head, weights, x)  # first difference


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("head",))
    return model(*args), _swap_modules(ep, {"head": model.head})(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except ValueError as error:
        if "cannot be swapped" not in str(error):
            raise
        print("ok: torch refuses in words:", error)
        raise SystemExit(0) from None
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager returns {expected}, with the layer swapped for itself {got}")
    raise SystemExit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "_swap_modules: deletes an in-place update under torch.no_grad"
# variant-of = "unflatten_deletes_update_under_no_grad"
# path = "nonstrict+preserve+swapped:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# fix = "regions_have_the_effects_of_their_bodies"
# upstream = ""
# at-fault = "torch/fx/node.py, Node.is_impure: higher order operators are pure, whatever their subgraphs do"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model sets an item of a buffer under no_grad. If its child is swapped for itself, the buffer is not
changed.

The no_grad block is a call whose result is unused. `_swap_modules` removes dead code, and `Node.is_impure`
does not look into the graph of a block.
"""

import sys

import torch
from torch.export._swap import _swap_modules


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = torch.nn.ReLU()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        with torch.no_grad():
            self.count[0] = 1  # first difference
        return self.child(x) + self.count


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("child",))
    got = _swap_modules(ep, {"child": model.child})(*args)
    expected = make()[0](*args)
    return expected, got


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager returns {expected}, with the child swapped for itself {got}")
    raise SystemExit(bug)

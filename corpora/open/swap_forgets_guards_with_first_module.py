# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD221"
# title = "_swap_modules: drops the guards on sizes if the first module is swapped"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "_swap_modules of the first module, in a program with a branch on a size"
# topics = ["dynamic-sizes"]
# cause = """
# `ep.module()` puts the call of its guards next to the first operator, and gives it the module stack of this
# operator. So the call counts as a part of the first child, and is replaced with it. It should be under the
# root."""
# path = "nonstrict+preserve+swapped:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh", "probe"]]
# fix = "guards_are_called_by_the_root"
# upstream = ""
# at-fault = """
# torch/export/_unlift.py, _unlift_exported_program_lifted_states: first_call_function_nn_module_stack"""
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`ep.module()` refuses four rows, for which the model takes another branch. With the first child swapped, it
runs the wrong branch.

`ep.module()` puts the call of its guards next to the first operator, and gives it the module stack of this
operator. So the call counts as a part of the first child, and is replaced with it. It should be under the
root.
"""

import sys

import torch
from torch.export._swap import _swap_modules


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = torch.nn.ReLU()

    def forward(self, x):
        x = self.child(x)
        if x.shape[0] % 2 == 0:  # first difference
            return -x
        return x


def make():
    return Model(), (torch.ones(3),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.DYNAMIC}}


def probes():
    return [((torch.ones(4),), {})]


def show():
    model, args = make()
    ep = torch.export.export(
        model, args, dynamic_shapes=dynamic_shapes(), preserve_module_call_signature=("child",)
    )
    swapped = _swap_modules(ep, {"child": model.child})
    return model(torch.ones(4)), swapped(torch.ones(4))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AssertionError as error:
        print(f"ok: with the child swapped, the program refuses another branch: {error}")
        raise SystemExit(0) from None
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, with the child swapped {got}")
    raise SystemExit(bug)

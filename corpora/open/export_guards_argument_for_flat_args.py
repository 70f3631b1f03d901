# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD301"
# title = "ep.module(): checks the size of the wrong argument if an argument is called flat_args"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "an argument called flat_args, and a branch on its size"
# topics = ["names", "dynamic-sizes"]
# cause = """
# The guard is `flat_args[0].size()[0] % 2 == 0`. In the guards of a strict export, `flat_args[0]` means the
# first input, here x. `_force_ep_signature_match` replaces it by x, although this export was not strict. So
# the program checks the size of x, and runs the branch for even sizes."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# undetected-because = "with the fix, unflatten still shows the same: it checks no guards"
# fix = "guard_argument_called_flat_args"
# upstream = ""
# at-fault = "torch/export/_unlift.py, _force_ep_signature_match: does not know if the export was strict"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model branches on the size of `flat_args[0]`, which was even at export. The program takes an odd size,
and returns the result of the branch for even sizes: -1, where eager gives 1.

The guard is `flat_args[0].size()[0] % 2 == 0`. In the guards of a strict export, `flat_args[0]` means the
first input, here x. `_force_ep_signature_match` replaces it by x, although this export was not strict. So the
program checks the size of x, and runs the branch for even sizes.
"""

import sys

import torch
from torch.export import Dim, export


class Model(torch.nn.Module):
    def forward(self, x, flat_args):
        return x.sum() - 1 if flat_args[0].shape[0] % 2 == 0 else x.sum() + 1  # first difference


def make():
    return Model(), (torch.zeros(4), (torch.zeros(4),))


def dynamic_shapes():
    return {"x": {0: Dim.AUTO}, "flat_args": ({0: Dim.AUTO},)}


def probes():
    return [((torch.zeros(4), (torch.zeros(3),)), {})]


def show():
    model, args = make()
    program = export(model, args, dynamic_shapes=dynamic_shapes()).module()
    args = (torch.zeros(4), (torch.zeros(3),))
    return model(*args), program(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AssertionError as error:
        print(f"ok: eager raises nothing, the exported program {error}")
        raise SystemExit(0) from None
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {got}")
    raise SystemExit(bug)

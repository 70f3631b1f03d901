# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD302"
# title = "ep.module(): checks the size of argument x_0 instead of x[0], and runs the wrong branch"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "a tuple x and another argument called x_0"
# topics = ["names", "containers", "dynamic-sizes"]
# cause = """
# The guard is `x[0].size()[0] % 2 == 0`. The values of `*x` are called x_0, x_1, ... in an exported program,
# so `_force_gm_signature_match` renames x[0] to x_0. It should do this only if the model has `*x`: here x is
# a tuple, and x_0 another argument. The program checks the size of that, and runs the branch for even
# sizes."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# undetected-because = "with the fix, unflatten still shows the same: it checks no guards"
# fix = "guard_items_of_arguments_by_name"
# upstream = ""
# at-fault = "torch/export/_unlift.py, _force_gm_signature_match: takes x[0] for an argument x_0"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model branches on the size of `x[0]`, which was even at export. Called with an odd size, the program
should refuse it.

The guard is `x[0].size()[0] % 2 == 0`. The values of `*x` are called x_0, x_1, ... in an exported program, so
`_force_gm_signature_match` renames x[0] to x_0. It should do this only if the model has `*x`: here x is a
tuple, and x_0 another argument. The program checks the size of that, and runs the branch for even sizes.
"""

import sys

import torch
from torch.export import Dim, export


class Model(torch.nn.Module):
    def forward(self, x, x_0):
        return x_0.sum() - 1 if x[0].shape[0] % 2 == 0 else x_0.sum() + 1  # first difference


def make():
    return Model(), ((torch.zeros(4),), torch.zeros(4))


def dynamic_shapes():
    return {"x": ({0: Dim.AUTO},), "x_0": {0: Dim.AUTO}}


def probes():
    return [(((torch.zeros(3),), torch.zeros(4)), {})]


def show():
    model, args = make()
    program = export(model, args, dynamic_shapes=dynamic_shapes()).module()
    args = ((torch.zeros(3),), torch.zeros(4))
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

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module() checks another argument in place of an item of a tuple, and takes the wrong branch"
# variant-of = "export_fails_on_field_that_begins_as_another"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# undetected-because = "with the fix, unflatten still shows the same: it checks no guards"
# fix = "guard_items_of_arguments_by_name"
# upstream = ""
# at-fault = "torch/export/_unlift.py, _force_gm_signature_match: x[0] is taken for an argument x_0"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""For three rows of x[0] eager gives 1 and `ep.module()` -1: it has checked the rows of x_0.

The guard is `x[0].size()[0] % 2 == 0`. What *x takes is called x_0, x_1, ... by an exported program, so the
guard is rewritten to be about `x_0`; here that is an argument in its own right, and x a tuple.
"""

import sys

import torch
from torch.export import Dim, export


class Model(torch.nn.Module):
    def forward(self, x, x_0):
        return x_0.sum() - 1 if x[0].shape[0] % 2 == 0 else x_0.sum() + 1


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

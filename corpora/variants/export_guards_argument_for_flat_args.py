# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module() checks the first argument in place of one called flat_args"
# variant-of = "export_fails_on_field_that_begins_as_another"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# undetected-because = "with the fix, unflatten still shows the same: it checks no guards"
# fix = "guard_argument_called_flat_args"
# upstream = ""
# at-fault = "torch/export/_unlift.py, _force_ep_signature_match: all guards are as if strict"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""For three rows of flat_args[0] eager gives 1 and `ep.module()` -1: it has checked the rows of x.

The guard is `flat_args[0].size()[0] % 2 == 0`. With strict=True guards have no names for inputs but
`flat_args[0]` for the first of them, and so on. Where the text of a guard is rewritten accordingly it is not
known whether the export was strict: an argument of that name makes it check the wrong input.
"""

import sys

import torch
from torch.export import Dim, export


class Model(torch.nn.Module):
    def forward(self, x, flat_args):
        return x.sum() - 1 if flat_args[0].shape[0] % 2 == 0 else x.sum() + 1


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

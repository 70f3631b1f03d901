# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "after export, a constant whose .data forward assigns no longer shares memory with a parameter"
# variant-of = "export_updates_constants_for_real"
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "sharing"]]
# fix = "refuse_to_replace_constants"
# upstream = ""
# at-fault = "torch/export/_trace.py, _export_to_aten_ir_make_fx: constants are not made fake"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`part` is the parameter `w` without its gradient; exporting parts the two for good.

Assigning to the .data of a tensor that is a plain attribute puts the storage of a fake tensor into the user's
own.
"""

import sys
from contextlib import suppress

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        self.part.data = x
        return x + 1


def make():
    model = Model()
    model.w = torch.nn.Parameter(torch.zeros(1))
    model.part = model.w.detach()
    return model, (torch.ones(1),)


def show():
    model, args = make()
    with suppress(RuntimeError):  # export may as well refuse
        torch.export.export(model, args, strict=False)
    return True, model.part.is_set_to(model.w)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: part has the memory of w: {expected} before export, {got} after it")
    raise SystemExit(bug)

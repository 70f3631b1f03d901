# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: exporting separates a plain attribute whose .data forward assigns from its parameter"
# variant-of = "export_turns_constant_into_meta_tensor"
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "sharing"]]
# fix = "refuse_to_replace_constants"
# upstream = ""
# at-fault = "torch/_export/non_strict_utils.py, _NonStrictTorchFunctionHandler: does not refuse it"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`model.part` is `model.w.detach()`, in the same memory. After export, `part` has other memory, for good.

Non-strict export does not make plain attributes fake. While export traces `self.part.data = x`, it puts the
memory of the fake input x into the user's own tensor. Export should refuse the assignment, and must not
change the model.
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

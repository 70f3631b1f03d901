# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD306"
# title = "torch.export: exporting x.data = y turns the plain attribute x of the model into a meta tensor"
# harm = "wrong later"
# reach = "contrived"
# reach-because = "`.data =` on a tensor that is a plain attribute"
# topics = ["data-attribute", "constants"]
# cause = """
# Non-strict export makes parameters and buffers fake, but not plain attributes. While it traces
# `self.last.data = x`, the memory and the device of the fake input x replace those of the user's own tensor,
# and export does not restore them. It should refuse the assignment."""
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "constant"]]
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
"""Exporting destroys a tensor of the model: `model.last` was on the CPU, and is on the meta device
afterwards.

Non-strict export makes parameters and buffers fake, but not plain attributes. While it traces `self.last.data
= x`, the memory and the device of the fake input x replace those of the user's own tensor, and export does
not restore them. It should refuse the assignment.
"""

import sys
from contextlib import suppress

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        self.last.data = x
        return x + 1


def make():
    model = Model()
    model.last = torch.zeros(1)
    return model, (torch.ones(1),)


def show():
    model, args = make()
    with suppress(RuntimeError):  # export may as well refuse
        torch.export.export(model, args, strict=False)
    return torch.device("cpu"), model.last.device


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: last is on {expected} before export, on {got} after it")
    raise SystemExit(bug)

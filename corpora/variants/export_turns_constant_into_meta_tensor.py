# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "after export, a constant whose .data forward assigns is on the meta device"
# variant-of = "export_updates_constants_for_real"
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "constant"]]
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
"""Exporting destroys the model's tensor: its memory is replaced by that of a fake tensor.

Parameters and buffers are made fake for tracing, a tensor that is a plain attribute is not. Assigning to
its .data puts the storage and device of the fake input into the real tensor, in C++ and past all that
export restores. What was a CPU tensor with values is a meta tensor without any.
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

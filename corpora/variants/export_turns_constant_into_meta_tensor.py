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
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/export/_trace.py, _export_to_aten_ir_make_fx: constants are not made fake"
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


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    with suppress(RuntimeError):  # export may as well refuse
        torch.export.export(model, args, strict=False)
    bug = model.last.is_meta
    print(f"{'BUG' if bug else 'ok'}: last is on cpu before export, on {model.last.device} after it")
    raise SystemExit(bug)

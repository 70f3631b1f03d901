# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module() accepts another member of an enumeration, and takes the branch of the first"
# path = "nonstrict:module@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "accepted", "member"]]
# fix = "guard_members_of_enumerations"
# affected = "2.13.0"
# upstream = ""
# at-fault = "torch/export/_unlift.py, _get_input_guards_for_graph: int, float and str alone are guarded"
# ///
"""Exported with Mode.ADD, `ep.module()` adds for Mode.SUBTRACT as well.

Since PyTorch PR 176541 a member of an Enum may be an input. What the model makes of it is fixed by export, as
for a str, but only numbers and strings are compared with what they were. The check that unflatten makes
(torch/_export/utils.py, `_check_input_constraints_for_graph`) does not look at other values either.
"""

import enum
import sys

import torch


class Mode(enum.Enum):
    ADD = 1
    SUBTRACT = 2


class Model(torch.nn.Module):
    def forward(self, x, mode):
        return x + 1 if mode is Mode.ADD else x - 1


def make():
    return Model(), (torch.zeros(1), Mode.ADD)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, (x, mode) = make()
    program = torch.export.export(model, (x, mode)).module()
    try:
        seen = program(x, Mode.SUBTRACT)
    except AssertionError as error:
        seen = error
    bug = torch.is_tensor(seen) and not torch.equal(model(x, Mode.SUBTRACT), seen)
    print(f"{'BUG' if bug else 'ok'}: eager gives {model(x, Mode.SUBTRACT)}, the exported program {seen}")
    raise SystemExit(bug)

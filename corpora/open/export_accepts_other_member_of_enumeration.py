# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module(): takes the branch of the example for another member of an Enum"
# severity = "A"
# severity-because = "a mode given as an Enum: the branch of the example is taken, in silence"
# cause = """
# Members of enumerations may be inputs since PR 176541, but _get_input_guards_for_graph, like other code
# that asks for the types of inputs, does not know them."""
# path = "nonstrict:module@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "accepted", "member"]]
# fix = "guard_members_of_enumerations"
# affected = ["2.13.0", "2.14.1"]
# undecided = ["2.9.1", "2.11.0"]
# upstream = ""
# at-fault = "torch/export/_unlift.py, _get_input_guards_for_graph: int, float and str alone are guarded"
# ///
"""Exported with Mode.ADD, `ep.module()` adds for Mode.SUBTRACT as well.

Since PyTorch PR 176541 a member of an Enum may be an input. What the model makes of it is fixed by export, as
for a str, but only numbers and strings are compared with what they were.
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

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD073"
# title = "ep.module(): runs the branch of the example if called with another member of an Enum"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a mode given as an Enum: the branch of the example is taken"
# topics = ["arguments"]
# cause = """
# Since PyTorch PR 176541, a member of an Enum may be an input. Export fixes it like a string, but
# `_get_input_guards_for_graph` makes guards for int, float and str only."""
# path = "nonstrict:module@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "accepted", "member"]]
# fix = "guard_members_of_enumerations"
# upstream = "https://github.com/pytorch/pytorch/pull/176541"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_unlift.py, _get_input_guards_for_graph: guards int, float and str only"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Exported with Mode.ADD, `ep.module()` also adds when it is called with Mode.SUBTRACT.

Since PyTorch PR 176541, a member of an Enum may be an input. Export fixes it like a string, but
`_get_input_guards_for_graph` makes guards for int, float and str only.
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


def show():
    model, (x, mode) = make()
    program = torch.export.export(model, (x, mode)).module()
    return model(x, Mode.SUBTRACT), program(x, Mode.SUBTRACT)


def make_workaround():
    """Pass the value of the member: numbers and strings are compared with those of the export."""

    class Reading(Model):
        def forward(self, x, mode):
            return x + 1 if Mode(mode) is Mode.ADD else x - 1

    return Reading(), (torch.zeros(1), Mode.ADD.value)


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

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module() refuses its own example if an input is a member of an int enumeration"
# variant-of = "export_fails_on_field_that_begins_as_another"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "NameError"]]
# fix = "guard_members_by_plain_value"
# upstream = ""
# at-fault = "torch/export/_unlift.py, _get_input_guards_for_graph: a guard is written with a formatted value"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Called with Mode.FAST, as it was exported, `ep.module()` raises NameError: name 'Mode' is not defined.

The text of a guard is made by formatting the input. Since Python 3.11 that gives the name of a member rather
than the number that it is: the guard reads `mode == Mode.FAST`.
"""

import enum
import sys

import torch


class Mode(int, enum.Enum):
    FAST = 1


class Model(torch.nn.Module):
    def forward(self, x, mode):
        return x + 1 if mode == 1 else x


def make():
    return Model(), (torch.zeros(1), Mode.FAST)


def show():
    model, args = make()
    torch.export.export(model, args).module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except NameError as error:
        sys.exit(f"BUG: eager raises nothing, the exported program raises {error!r}")
    print("ok: neither eager nor the exported program raises")

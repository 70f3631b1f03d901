# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD305"
# title = "ep.module(): NameError for its own example if an argument is a member of class Mode(int, Enum)"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a mode given as a member of class Mode(int, Enum): the exported program cannot be called"
# topics = ["arguments"]
# cause = """
# `_get_input_guards_for_graph` writes the value of an int argument into the code of the guard with an
# f-string. Since Python 3.11, the text of such a member is its name, so that the guard reads `mode ==
# Mode.FAST`. It should be the plain number. A member of class Mode(str, Enum) is refused for the same
# reason; enum.IntEnum and enum.StrEnum work."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "NameError"]]
# fix = "guard_members_by_plain_value"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_unlift.py, _get_input_guards_for_graph: f-string of a member of an enumeration"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Exported with Mode.FAST and called with it again, `ep.module()` raises "NameError: name 'Mode' is not
defined".

`_get_input_guards_for_graph` writes the value of an int argument into the code of the guard with an f-string.
Since Python 3.11, the text of such a member is its name, so that the guard reads `mode == Mode.FAST`. It
should be the plain number. A member of class Mode(str, Enum) is refused for the same reason; enum.IntEnum and
enum.StrEnum work.
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


def make_workaround():
    """Pass the value of the member."""
    return Model(), (torch.zeros(1), Mode.FAST.value)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except NameError as error:
        sys.exit(f"BUG: eager raises nothing, the exported program raises {error!r}")
    print("ok: neither eager nor the exported program raises")

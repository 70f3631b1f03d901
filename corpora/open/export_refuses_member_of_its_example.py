# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module() refuses its own example where that is a member of a str enumeration"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "AssertionError"], ["outputs", "crash", "run", "NameError"]]
# fix = "guard_members_by_plain_value"
# affected = "2.13.0"
# upstream = ""
# at-fault = "torch/export/_unlift.py, _get_input_guards_for_graph: a guard is written with a formatted value"
# ///
"""Exported with Mode.FAST, `ep.module()` refuses Mode.FAST: "Guard failed: mode == 'Mode.FAST'".

The text of the guard is made by formatting the input. Since Python 3.11 that gives the name of a member rather
than the string that it is. For an enumeration of int or float the guard reads `mode == Mode.FAST`, without
quotes, and raises NameError.
"""

import enum

import torch


class Mode(str, enum.Enum):
    FAST = "fast"


class Model(torch.nn.Module):
    def forward(self, x, mode):
        return x + 1 if mode == "fast" else x


def make():
    return Model(), (torch.zeros(1), Mode.FAST)


if __name__ == "__main__":
    model, args = make()
    try:
        torch.export.export(model, args).module()(*args)
        print("ok: neither eager nor the exported program raises")
    except AssertionError as error:
        print(f"BUG: eager raises nothing, the exported program raises {error!r}")
        raise SystemExit(1) from None

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD101"
# title = "ep.module(): SyntaxError for a namedtuple with the fields value and value_max"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a namedtuple with the fields value and value_max"
# topics = ["containers", "names"]
# cause = """
# `_convert_guards_code_to_fn` replaces the path of each input in the code of a guard by `args[0]` and so on.
# `L['x'].value` is also the beginning of `L['x'].value_max`, which becomes `args[0]_max`. It should replace
# longer paths first."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "SyntaxError"]]
# fix = "guard_longest_paths_first"
# upstream = "https://github.com/pytorch/pytorch/pull/186993"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_unlift.py, _convert_guards_code_to_fn: paths are replaced in the text of guards"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A namedtuple has the fields `value` and `value_max`. `ep.module()` raises SyntaxError.

`_convert_guards_code_to_fn` replaces the path of each input in the code of a guard by `args[0]` and so on.
`L['x'].value` is also the beginning of `L['x'].value_max`, which becomes `args[0]_max`. It should replace
longer paths first.
"""

import sys
from typing import NamedTuple

import torch


class Pair(NamedTuple):
    value: torch.Tensor
    value_max: torch.Tensor


class Model(torch.nn.Module):
    def forward(self, x):
        return x.value + x.value_max


def make():
    return Model(), (Pair(torch.zeros(1), torch.zeros(1)),)


def show():
    model, args = make()
    program = torch.export.export(model, args)
    program.module()


def make_workaround():
    """Name the fields such that no name is the beginning of another."""

    class Renamed(NamedTuple):
        value: torch.Tensor
        max_value: torch.Tensor

    class Reading(Model):
        def forward(self, x):
            return x.value + x.max_value

    return Reading(), (Renamed(torch.zeros(1), torch.zeros(1)),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except SyntaxError as error:
        sys.exit(f"BUG: eager raises nothing, module() raises {error!r}")
    print("ok: neither eager nor module() raises")

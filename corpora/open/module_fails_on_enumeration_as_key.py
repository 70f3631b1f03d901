# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD333"
# title = "ep.module(): SyntaxError for a dict of inputs whose keys are members of an enumeration"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a dict of inputs with an Enum as keys, as the tables of PyTorch Frame have"
# topics = ["containers", "arguments"]
# cause = """
# The message of a guard names the input by the repr of its keys: `x[<Side.LEFT: 1>].size()[0] == 2`. This is
# no Python code, but `_convert_guards_code_to_fn` parses it, only to remove parentheses. It should leave
# such a message as it is."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "SyntaxError",
#         "exported_program.py:module",
#         "_unlift.py:_unlift_exported_program_lifted_states",
#         "_unlift.py:_convert_guards_code_to_fn",
#     ],
# ]
# fix = "guard_messages_need_not_be_python"
# upstream = "https://github.com/pytorch/pytorch/pull/186993"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_unlift.py, _convert_guards_code_to_fn: ast.parse of a message"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The keys of a dict of inputs are members of an enumeration. The model can be exported, but `ep.module()`
raises SyntaxError.

The message of a guard names the input by the repr of its keys: `x[<Side.LEFT: 1>].size()[0] == 2`. This is no
Python code, but `_convert_guards_code_to_fn` parses it, only to remove parentheses. It should leave such a
message as it is.
"""

import enum
import sys

import torch
from torch import nn


class Side(enum.Enum):
    LEFT = 1
    RIGHT = 2


class Model(nn.Module):
    def forward(self, x):
        return x[Side.LEFT] - x[Side.RIGHT]


def make():
    return Model(), ({Side.LEFT: torch.ones(2), Side.RIGHT: torch.zeros(2)},)


def show():
    model, args = make()
    torch.export.export(model, args).module()


def make_workaround():
    """Use the names of the members as keys."""

    class ByName(Model):
        def forward(self, x):
            return x[Side.LEFT.name] - x[Side.RIGHT.name]

    return ByName(), ({Side.LEFT.name: torch.ones(2), Side.RIGHT.name: torch.zeros(2)},)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except SyntaxError as error:
        sys.exit(f"BUG: eager raises nothing, ep.module() raises {error!r:.100}")
    print("ok: neither eager nor ep.module() raises")

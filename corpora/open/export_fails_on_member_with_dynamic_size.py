# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD297"
# title = "torch.export: RuntimeError for an Enum argument if another input has a dynamic size"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a mode given as an Enum, in a model with a dynamic batch size"
# topics = ["arguments", "dynamic-sizes"]
# cause = """
# `make_constraints` in torch/_export/non_strict_utils.py goes through all inputs if there is a dynamic size.
# It has no case for members of enumerations. Like an int, they have no constraints."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "RuntimeError",
#         "_trace.py:_get_range_constraints",
#         "non_strict_utils.py:make_constraints",
#     ],
# ]
# fix = "constrain_no_members_of_enumerations"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/non_strict_utils.py, make_constraints: knows ints, SymInts and tensors"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model with an Enum argument exports with static sizes. With a dynamic size, export says "Unfamiliar meta
val".

`make_constraints` in torch/_export/non_strict_utils.py goes through all inputs if there is a dynamic size. It
has no case for members of enumerations. Like an int, they have no constraints.
"""

import enum
import sys

import torch


class Kind(enum.Enum):
    A = 1


class Model(torch.nn.Module):
    def forward(self, x, kind):
        return x + kind.value


def make():
    return Model(), (torch.ones(2), Kind.A)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.DYNAMIC}, "kind": None}


def show():
    model, args = make()
    torch.export.export(model, args, dynamic_shapes=dynamic_shapes())


def make_workaround():
    """Pass the value of the member."""

    class Plain(Model):
        def forward(self, x, kind):
            return x + kind

    return Plain(), (torch.ones(2), Kind.A.value)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "Unfamiliar meta val" not in str(error):
            raise
        sys.exit(f"BUG: export raises {error!r}, and nothing with static sizes")
    print("ok: export raises nothing, as with static sizes")

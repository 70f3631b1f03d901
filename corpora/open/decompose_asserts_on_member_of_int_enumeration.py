# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD287"
# title = "run_decompositions: AssertionError for an argument that is a member of an IntEnum"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a mode given as an IntEnum: the program cannot be decomposed"
# topics = ["arguments"]
# cause = """
# AOTAutograd asks `isinstance(x, int)` of each input and makes a symbol of it. This is true of a member of an
# IntEnum, but SymNode asserts that the value is of type int exactly. Members should be left as they are, as
# those of a plain Enum are."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "AssertionError",
#         "recording.py:wrapper",
#         "symbolic_shapes.py:create_symintnode",
#         "sym_node.py:__init__",
#     ],
# ]
# fix = "aot_leaves_members_of_enumerations"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_functorch/_aot_autograd/frontend_utils.py, process_inputs: isinstance(x, int)"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model with an argument from an IntEnum can be exported. `run_decompositions` fails an assertion.

AOTAutograd asks `isinstance(x, int)` of each input and makes a symbol of it. This is true of a member of an
IntEnum, but SymNode asserts that the value is of type int exactly. Members should be left as they are, as
those of a plain Enum are.
"""

import enum
import sys

import torch


class Kind(enum.IntEnum):
    A = 2


class Model(torch.nn.Module):
    def forward(self, x, kind):
        return x * kind


def make():
    return Model(), (torch.ones(1), Kind.A)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    ep.run_decompositions()


def make_workaround():
    """Pass the value of the member."""
    return Model(), (torch.ones(1), Kind.A.value)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        sys.exit(f"BUG: run_decompositions raises AssertionError: {error}")
    print("ok: run_decompositions raises nothing")

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "run_decompositions: AssertionError if an input is a member of an int enumeration"
# variant-of = "export_accepts_other_member_of_enumeration"
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
# at-fault = "torch/_functorch/_aot_autograd/frontend_utils.py, process_inputs: isinstance(x, int)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model that takes a member of an IntEnum can be exported, but not decomposed: an internal assertion.

AOTAutograd makes a symbol of each input that is an int, and a member of such an enumeration is one. SymNode
asserts that what a symbol stands for is a plain int.
"""

import enum
import sys

import torch


class Kind(enum.IntEnum):
    A = 2


class Model(torch.nn.Module):
    def forward(self, x, kind):
        return x + 1


def make():
    return Model(), (torch.ones(1), Kind.A)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    ep.run_decompositions()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        sys.exit(f"BUG: run_decompositions raises AssertionError: {error}")
    print("ok: run_decompositions raises nothing")

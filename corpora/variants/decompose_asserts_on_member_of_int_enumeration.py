# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "run_decompositions asserts where an input is a member of an int enumeration"
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
# affected = ["2.11.0", "2.13.0", "2.14.1"]
# unaffected = ["2.9.1"]
# regression-since = "2.11.0"
# at-fault = "torch/_functorch/_aot_autograd/frontend_utils.py, process_inputs: isinstance(x, int)"
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


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    ep = torch.export.export(*make())
    try:
        ep.run_decompositions()
        seen = "nothing"
    except AssertionError as error:
        seen = f"{type(error).__name__}: {error}"
    bug = seen.startswith("AssertionError")
    print(f"{'BUG' if bug else 'ok'}: run_decompositions raises {seen}")
    raise SystemExit(bug)

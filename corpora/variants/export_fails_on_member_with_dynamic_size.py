# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "Export fails on a member of an enumeration next to a dynamic size"
# variant-of = "export_accepts_other_member_of_enumeration"
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
# at-fault = "torch/_export/non_strict_utils.py, make_constraints: knows ints, SymInts and tensors"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""With static sizes the model exports; with a dynamic one, "Unfamiliar meta val".

Members of enumerations are accepted as inputs. make_constraints, which looks at every input where one has a
dynamic size, does not know them.
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

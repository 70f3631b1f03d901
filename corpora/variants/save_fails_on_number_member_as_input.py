# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export.save: AssertionError if an input is a member of an int enumeration"
# variant-of = "export_accepts_other_member_of_enumeration"
# path = "nonstrict+reload:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "AssertionError",
#         "_pytree.py:unflatten",
#         "serialize.py:rename_def",
#         "serialize.py:_rename",
#     ],
# ]
# fix = "save_refuses_members_that_are_numbers"
# upstream = ""
# at-fault = "torch/_export/serde/serialize.py, handle_placeholder: takes members for numbers"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "fixed"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Export takes a member of an IntEnum; saving neither writes nor refuses it, but fails an internal assertion.

A member of a plain Enum is refused as "Unimplemented graph input type". One that is an int, float or str as
well is serialized as a number would be; as its type is none of these exactly, it becomes a custom object, of
a name that no table has: "arg_name '_custom_obj_0' not in values".
"""

import enum
import io
import sys

import torch


class Kind(enum.IntEnum):
    A = 1


class Model(torch.nn.Module):
    def forward(self, x, kind):
        return x + kind


def make():
    return Model(), (torch.ones(1), Kind.A)


def show():
    model, args = make()
    program = torch.export.export(model, args)
    torch.export.save(program, io.BytesIO())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch._export.serde.serialize.SerializeError:
        print("ok: such an input is refused, as a member of a plain Enum is")
        raise SystemExit(0) from None
    except AssertionError as error:
        sys.exit(f"BUG: saving raises {error!r}; a member of a plain Enum is refused")
    print("ok: the program is saved")

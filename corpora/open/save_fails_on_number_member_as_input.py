# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD314"
# title = "torch.export.save: AssertionError for an argument that is a member of an IntEnum"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a mode given as an IntEnum: the program cannot be saved"
# topics = ["arguments"]
# cause = """
# Saving refuses a member of a plain Enum: "Unimplemented graph input type". `handle_placeholder` takes a
# member of an IntEnum for an int, but `serialize_input` looks at the exact type and makes a custom object of
# it. The assertion is "arg_name '_custom_obj_0' not in values". Such a member should be refused, too."""
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
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/serde/serialize.py, handle_placeholder: takes members for numbers"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "fixed"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A program with an argument from an IntEnum can be exported. `torch.export.save` fails an assertion.

Saving refuses a member of a plain Enum: "Unimplemented graph input type". `handle_placeholder` takes a member
of an IntEnum for an int, but `serialize_input` looks at the exact type and makes a custom object of it. The
assertion is "arg_name '_custom_obj_0' not in values". Such a member should be refused, too.
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


def make_workaround():
    """Pass the value of the member."""
    return Model(), (torch.ones(1), Kind.A.value)


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

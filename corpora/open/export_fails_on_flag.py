# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD296"
# title = "torch.export: RecursionError for an argument that is a member of an enum.Flag"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a member of an enum.Flag as an argument"
# topics = ["arguments"]
# cause = """
# `_check_val` in torch/_export/verifier.py checks the items of everything that is Iterable. A Flag is:
# iterating over `Mode.FAST` gives `Mode.FAST` again, without end. Members of enumerations should be accepted
# as they are."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "RecursionError"]]
# fix = "verify_flags_as_they_are"
# upstream = ""
# at-fault = "torch/_export/verifier.py, _check_val: whatever is Iterable is taken for a container"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Export accepts members of an Enum as arguments. For a member of an enum.Flag it raises RecursionError.

`_check_val` in torch/_export/verifier.py checks the items of everything that is Iterable. A Flag is:
iterating over `Mode.FAST` gives `Mode.FAST` again, without end. Members of enumerations should be accepted as
they are.
"""

import enum
import sys

import torch


class Mode(enum.Flag):
    FAST = 1
    SAFE = 2


class Model(torch.nn.Module):
    def forward(self, x, mode):
        return x + 1 if Mode.FAST in mode else x


def make():
    return Model(), (torch.ones(1), Mode.FAST)


def show():
    model, args = make()
    torch.export.export(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RecursionError as error:
        sys.exit(f"BUG: eager raises nothing, export raises {error!r}")
    print("ok: neither eager nor export raises")

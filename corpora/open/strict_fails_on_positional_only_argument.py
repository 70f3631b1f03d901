# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD205"
# title = "torch.export(strict=True): AssertionError for forward(self, x, /)"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "forward(self, x, /)"
# topics = ["arguments"]
# cause = """
# `argument_names` makes a list of the arguments that can be passed by position, and forgets those that are
# positional only."""
# path = "strict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "AssertionError"]]
# fix = "strict_names_positional_only_arguments"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_dynamo/eval_frame.py, argument_names: positional-only arguments are left out"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`forward(self, x, /)` with strict=True fails an internal assertion: "More arguments than expected".

`argument_names` makes a list of the arguments that can be passed by position, and forgets those that are
positional only.
"""

import sys
import traceback

import torch


class Model(torch.nn.Module):
    def forward(self, x, /):
        return x + 1


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args, strict=True)


def workaround_options():
    """Export without strict, which is the default."""
    return {"strict": False}


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        if traceback.extract_tb(error.__traceback__)[-1].name != "argument_names":
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r}")
    print("ok: neither eager nor export raises")

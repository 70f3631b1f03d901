# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD388"
# title = "torch.export(strict=True): AssertionError about an additional input for random.Random(0).random()"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "forward draws fixed numbers with a generator of Python"
# topics = ["random"]
# cause = """
# `RandomVariable.call_method` makes each random number an input of the graph, which torch.compile draws
# before each call. Nothing draws numbers for an exported program, so that export raises AssertionError. The
# generator is made in forward, from a seed: its numbers are the same in every call, and should be
# constants."""
# path = "strict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "AssertionError",
#         "misc.py:call_method",
#         "user_defined.py:call_random_fn",
#         "builder.py:wrap_unspecialized_primitive",
#     ],
# ]
# fix = "export_traces_seeded_numbers_of_python"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_dynamo/variables/misc.py, RandomVariable.call_method: ends in call_random_fn"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward draws a number with random.Random(0).random(). Eager runs; export with strict=True raises
AssertionError: Dynamo attempts to add additional input during export.

`RandomVariable.call_method` makes each random number an input of the graph, which torch.compile draws before
each call. Nothing draws numbers for an exported program, so that export raises AssertionError. The generator
is made in forward, from a seed: its numbers are the same in every call, and should be constants.
"""

import random
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + random.Random(0).random()


def make():
    return Model(), (torch.ones(2),)


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
        if "additional input" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")

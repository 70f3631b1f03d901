# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD199"
# title = "torch.export(strict=True): fails if an operator raises and forward catches the error"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "few models let an operator raise and catch it"
# topics = ["exceptions"]
# cause = """
# If an operator raises for fake tensors, Dynamo ends the trace, although there is an except around it:
# `run_node` raises an IndexError again, and `get_fake_value` lets it through. It should become an exception
# of the traced code, like that of a raise statement."""
# path = "strict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "IndexError"]]
# fix = "strict_catches_what_operators_raise"
# upstream = "https://github.com/pytorch/pytorch/issues/198192"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_dynamo/utils.py, get_fake_value: an operator's exception is never one of the traced code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward sums over a third dimension, and catches the IndexError if there is none. Strict export raises this
IndexError.

If an operator raises for fake tensors, Dynamo ends the trace, although there is an except around it:
`run_node` raises an IndexError again, and `get_fake_value` lets it through. It should become an exception of
the traced code, like that of a raise statement.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        try:
            return x.sum(2)
        except IndexError:
            return x + 1


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args, strict=True).module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except IndexError as error:
        if "out of range" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises IndexError: {error}")
    print(f"ok: eager gives {expected}, the program {got}")

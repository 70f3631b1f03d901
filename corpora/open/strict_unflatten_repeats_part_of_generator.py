# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD214"
# title = "unflatten of a strict export: a child whose forward is a generator runs its last part twice"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "strict=True, unflatten, and a child whose forward is a generator"
# topics = ["attributes"]
# cause = """
# Dynamo records what a generator computes under the call that has created it, which has returned by then. The
# addition of the parent is between the two parts, so that unflatten makes two modules called `child`, and the
# second replaces the first. Non-strict export records them under the parent."""
# path = "strict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# fix = "strict_files_generators_under_who_runs_them"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_dynamo/variables/functions.py, gen_send_ex2: runs under the module stack of the creator"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A child yields sin(x) and cos(x), and the parent adds them. Unflattened after strict export, it adds cos(x)
twice.

Dynamo records what a generator computes under the call that has created it, which has returned by then. The
addition of the parent is between the two parts, so that unflatten makes two modules called `child`, and the
second replaces the first. Non-strict export records them under the parent.
"""

import sys

import torch
from torch import nn


class Child(nn.Module):
    def forward(self, x):
        yield x.sin()  # first difference
        yield x.cos()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return sum(self.child(x))


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=True)
    return model(*args), torch.export.unflatten(program)(*args)


def make_workaround():
    """Return a tuple instead of a generator."""

    class Returning(Child):
        def forward(self, x):
            return x.sin(), x.cos()

    model = Model()
    model.child = Returning()
    return model, (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager returns {expected}, unflattened {got}")
    raise SystemExit(bug)

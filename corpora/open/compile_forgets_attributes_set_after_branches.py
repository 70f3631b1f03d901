# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD016"
# title = "torch.compile: an attribute set before and after torch.cond keeps its first value"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a Python counter next to a torch.cond"
# topics = ["control-flow", "attributes"]
# cause = """
# Dynamo records side effects in a table. `trace_hop_function` restores this table after it has traced the
# branches: it replaces it by a copy. The `__dict__` of an object that was used before still refers to the old
# table, and later changes are recorded there and lost."""
# path = "compile:compiled@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "left", "attribute"]]
# fix = "attributes_are_stored_in_the_current_table"
# upstream = "https://github.com/pytorch/pytorch/pull/174570"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_dynamo/variables/dicts.py, SideEffectsProxyDict: keeps a table that is replaced"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "fixed"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "fixed"
# ///
"""A counter is increased before and after torch.cond. Eager leaves 2, the compiled model 1.

Dynamo records side effects in a table. `trace_hop_function` restores this table after it has traced the
branches: it replaces it by a copy. The `__dict__` of an object that was used before still refers to the old
table, and later changes are recorded there and lost.
"""

import sys

import torch


class Model(torch.nn.Module):
    count = 0

    def forward(self, x):
        self.count += 1
        x = torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))
        self.count += 1  # first difference
        return x


def make():
    return Model(), (torch.ones(1),)


def show():
    (model, args), (other, _) = make(), make()
    model(*args)
    torch.compile(other, backend="eager")(*args)
    return model.count, other.count


def make_workaround():
    """Set the attribute once, before torch.cond."""

    class Counting(Model):
        def forward(self, x):
            self.count += 2
            return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))

    return Counting(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager leaves {expected} in count, compiled {got}")
    raise SystemExit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD352"
# title = "unflatten: after to(), double() or half(), a module that is called twice loses updates of buffers"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a Siamese network with BatchNorm, in train mode, moved by to() after unflatten"
# topics = ["shared-modules", "moving-averages", "buffers", "norms"]
# cause = """
# unflatten makes a module of each call, `norm` and `norm@1`, if their graphs differ. `_assign_attr` gives
# both the same buffers, but each has a dict of its own. `nn.Module._apply`, which to() calls, replaces
# buffers dict by dict. So each call gets buffers of its own, and does not see what the other writes. All
# calls should have one dict."""
# path = "nonstrict+cast:unflatten@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [["sharing", "mismatch", "call-variant-has-its-own"]]
# fix = "unflattened_calls_keep_one_set_of_buffers"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/export/unflatten.py, _assign_attr: each call has dicts of its own"
# workaround = "none: cast or move the model before it is exported"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A Siamese network normalizes both of its inputs with one BatchNorm. Unflattened and cast, its running mean
misses half of the updates.

unflatten makes a module of each call, `norm` and `norm@1`, if their graphs differ. `_assign_attr` gives both
the same buffers, but each has a dict of its own. `nn.Module._apply`, which to() calls, replaces buffers dict
by dict. So each call gets buffers of its own, and does not see what the other writes. All calls should have
one dict.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(1)

    def forward(self, x, y):
        return self.norm(x) - self.norm(y)


def make():
    return Model(), (torch.ones(2, 1), torch.zeros(2, 1))


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args)).double().float()
    model = model.double().float()
    model(*args)
    unflattened(*args)
    return model.norm.running_mean, unflattened.norm.running_mean


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives a running mean of {expected}, the unflattened module {got}")
    raise SystemExit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD086"
# title = "torch.export: self.count = self.count + 1 in a submodule does not update the buffer"
# harm = "wrong later"
# reach = "everyday"
# reach-because = "a counter in a submodule, updated by assignment: silently lost"
# evidence = [
#     "https://github.com/facebookresearch/dino/blob/main/main_dino.py",
#     "https://github.com/vinsis/understanding-neuralnetworks-pytorch/blob/cf153f3a33295d78135927da47918fd3cb272c00/markdowns/register_buffer.md",
# ]
# topics = ["buffers", "moving-averages"]
# cause = """
# The hook that records assignments asks `_mod._buffers is mod._buffers`, which is true of the root module
# only. It should record assignments in submodules, too."""
# path = "nonstrict:module@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch"]]
# fix = "buffer_assignment_in_submodule"
# upstream = "https://github.com/pytorch/pytorch/pull/185108"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_functorch/_aot_autograd/utils.py, register_buffer_assignment_hook: root module only"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`self.count = self.count + 1` in a submodule is lost: eager leaves 1 in the buffer, the program 0. There is
no warning.

The hook that records assignments asks `_mod._buffers is mod._buffers`, which is true of the root module only.
It should record assignments in submodules, too.
"""

import sys

import torch
from torch import nn


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        self.count = self.count + 1  # first difference
        return x + self.count


def make():
    return nn.Sequential(Counter()), (torch.ones(1),)


def show():
    model, args = make()
    program = torch.export.export(*make()).module()
    model(*args)
    program(*args)
    return model[0].count, program.get_buffer("0.count")


def make_workaround():
    """Write the new value into the buffer instead of assigning it."""

    class Writing(Counter):
        def forward(self, x):
            self.count.copy_(self.count + 1)
            return x + self.count

    return nn.Sequential(Writing()), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager leaves {expected} in the buffer, export leaves {got}")
    raise SystemExit(bug)

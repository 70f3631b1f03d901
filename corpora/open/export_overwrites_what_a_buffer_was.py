# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD143"
# title = "torch.export: a buffer that is returned and then assigned is returned with its new value"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a running state that is read, then updated by assignment"
# topics = ["buffers", "moving-averages"]
# cause = """
# In eager, the assignment gives the name another tensor. `_make_fx_helper` ends the graph with a copy_ of the
# new value into the old tensor, which the program also returns. It should return a clone."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# # The clone has no storage offset, which fake tensors that were computed from the buffer had.
# unmasked = [["fake", "mismatch", "offset"]]
# fix = "read_clones_of_assigned_buffers"
# upstream = "https://github.com/pytorch/pytorch/pull/137240"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_trace.py, _make_fx_helper: aten.copy_ for every assigned buffer"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward keeps the old value of a buffer, assigns a new one, and returns the old one. The program returns
the new one.

In eager, the assignment gives the name another tensor. `_make_fx_helper` ends the graph with a copy_ of the
new value into the old tensor, which the program also returns. It should return a clone.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        previous = self.state
        self.state = self.state + x  # first difference
        return previous


def make():
    model = Model()
    model.register_buffer("state", torch.zeros(1))
    return model, (torch.ones(1),)


def show():
    model, args = make()
    program = torch.export.export(*make(), strict=False).module()
    return model(*args), program(*args)


def make_workaround():
    """Clone the old value before you assign the new one."""

    class Cloning(Model):
        def forward(self, x):
            previous = self.state.clone()
            self.state = self.state + x
            return previous

    model = Cloning()
    model.register_buffer("state", torch.zeros(1))
    return model, (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager returns {expected}, the exported program {got}")
    raise SystemExit(bug)

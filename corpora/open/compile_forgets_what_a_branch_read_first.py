# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD018"
# title = "torch.compile: assigning a buffer has no effect if a branch of torch.cond read it first"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a buffer that a branch of torch.cond reads, assigned afterwards: silently lost"
# topics = ["control-flow", "buffers"]
# cause = """
# After a branch was traced, Dynamo restores its table of side effects, and keeps only the tensors that the
# branch read first. The dict `_buffers`, which the branch was the first to read as well, is no longer
# tracked, so that the assignment is not replayed. `track_runahead_tensor_and_symvar_side_effects` should keep
# such objects, too."""
# path = "compile:compiled@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "value", "buffer"]]
# fix = "track_what_bodies_read_first"
# upstream = "https://github.com/pytorch/pytorch/pull/158273"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_dynamo/side_effects.py, track_runahead_tensor_and_symvar_side_effects: tensors only"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A branch of torch.cond reads the buffer `count`, which is assigned afterwards. Eager leaves 1 in it,
compiled 0.

After a branch was traced, Dynamo restores its table of side effects, and keeps only the tensors that the
branch read first. The dict `_buffers`, which the branch was the first to read as well, is no longer tracked,
so that the assignment is not replayed. `track_runahead_tensor_and_symvar_side_effects` should keep such
objects, too.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        y = torch.cond(x.sum() > 0, lambda x: x + self.count, lambda x: x + 1, (x,))
        self.count = self.count + 1  # first difference
        return y


def make():
    return Model(), (torch.ones(1),)


def show():
    (model, args), (other, _) = make(), make()
    model(*args)
    torch.compile(other, backend="eager")(*args)
    return model.count, other.count


def make_workaround():
    """Read the buffer before torch.cond."""

    class Reading(Model):
        def forward(self, x):
            count = self.count
            y = torch.cond(x.sum() > 0, lambda x: x + count, lambda x: x + 1, (x,))
            self.count = count + 1
            return y

    return Reading(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager leaves {expected} in count, compiled {got}")
    raise SystemExit(bug)

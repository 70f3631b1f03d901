# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD029"
# title = "torch.compile: after buf.data = x, buf.dim() returns the rank from before"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "`.data =` with a tensor of another rank, in a compiled model"
# topics = ["data-attribute"]
# cause = """
# Dynamo traces the assignment as `set_` and makes a new variable for the tensor, which nothing uses. The old
# variable answers with the rank that it has stored. `_call_setattr` should update what the old variable has
# stored."""
# path = "compile:compiled@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "accepted"], ["outputs", "mismatch"]]
# fix = "data_assigned_gives_its_sizes"
# upstream = "https://github.com/pytorch/pytorch/pull/113080"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_dynamo/variables/builtin.py, _call_setattr: what it returns replaces no reference"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""After `self.buf.data = x`, the compiled model still uses the old rank for `self.buf.dim()`.

Dynamo traces the assignment as `set_` and makes a new variable for the tensor, which nothing uses. The old
variable answers with the rank that it has stored. `_call_setattr` should update what the old variable has
stored.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        self.buf.data = x
        return self.buf * self.buf.dim()


def make():
    model = Model()
    model.register_buffer("buf", torch.tensor(1.0))
    return model, (torch.tensor(1.0),)


def show():
    (eager, args), (compiled, _) = make(), make()
    compiled.compile(backend="eager")
    for x in (*args, torch.ones(2)):
        expected, got = eager(x), compiled(x)
    return expected, got


def make_workaround():
    """Ask the tensor that was assigned for its rank."""

    class Asking(Model):
        def forward(self, x):
            self.buf.data = x
            return self.buf * x.dim()

    model = Asking()
    model.register_buffer("buf", torch.tensor(1.0))
    return model, (torch.tensor(1.0),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: with a vector, eager gives {expected}, compiled {got}")
    raise SystemExit(bug)

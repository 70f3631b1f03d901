# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD200"
# title = "torch.export(strict=True): self.count = self.count + 1 never updates the buffer"
# harm = "wrong later"
# reach = "everyday"
# reach-because = "a counter updated by assignment: silently never changes"
# evidence = ["https://github.com/pytorch/pytorch/issues/111676"]
# topics = ["buffers", "moving-averages"]
# cause = """
# For Dynamo, an assignment is a side effect of Python, and export does not replay these. There is only a
# general warning that "certain side effects happened". For a buffer, export should write the new value back,
# as non-strict export does."""
# path = "strict:module@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch"]]
# fix = "strict_writes_back_assigned_buffers"
# upstream = "https://github.com/pytorch/pytorch/issues/111676"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_trace.py, ExportDynamoConfig: replay_side_effects = False, _buffers included"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`self.count = self.count + 1` never updates the buffer: eager leaves 1, the program 0.

For Dynamo, an assignment is a side effect of Python, and export does not replay these. There is only a
general warning that "certain side effects happened". For a buffer, export should write the new value back, as
non-strict export does.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        self.count = self.count + 1  # first difference
        return x + self.count


def make():
    model = Model()
    model.register_buffer("count", torch.zeros(1))
    return model, (torch.ones(1),)


def show():
    model, args = make()
    program = torch.export.export(*make(), strict=True).module()
    model(*args)
    program(*args)
    return model.count, program.count


def make_workaround():
    """Write the new value into the buffer instead of assigning it."""

    class Writing(Model):
        def forward(self, x):
            self.count.copy_(self.count + 1)
            return x + self.count

    model = Writing()
    model.register_buffer("count", torch.zeros(1))
    return model, (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager leaves {expected} in count, export leaves {got}")
    raise SystemExit(bug)

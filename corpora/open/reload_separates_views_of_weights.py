# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD192"
# title = "torch.export.load: a non-persistent view of a buffer gets separate memory"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a non-persistent buffer that is a view of another"
# topics = ["views", "buffers"]
# cause = """
# A non-persistent buffer is saved among the constants of the program, the other one among the weights.
# `_package_exported_programs` writes the shared storage once for each group."""
# path = "nonstrict+reload:module@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [["sharing", "mismatch", "memory-no-longer-shared"]]
# fix = "save_packs_constants_with_their_weights"
# upstream = "https://github.com/pytorch/pytorch/pull/164196"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/pt2_archive/_package.py, _package_exported_programs: weights and constants apart"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A non-persistent buffer is a view of a persistent one. After save and load, updates of one do not reach the
other.

A non-persistent buffer is saved among the constants of the program, the other one among the weights.
`_package_exported_programs` writes the shared storage once for each group.
"""

import io
import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("whole", torch.zeros(2))
        self.register_buffer("part", self.whole[:1], persistent=False)

    def forward(self, x):
        self.part.add_(1)
        return x + self.whole


def make():
    return Model(), (torch.zeros(2),)


def show():
    model, args = make()
    file = io.BytesIO()
    torch.export.save(torch.export.export(model, args), file)
    file.seek(0)
    return model(*args), torch.export.load(file).module()(*args)


def make_workaround():
    """Slice the buffer in forward."""

    class Slicing(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("whole", torch.zeros(2))

        def forward(self, x):
            self.whole[:1].add_(1)
            return x + self.whole

    return Slicing(), (torch.zeros(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the loaded program {got}")
    raise SystemExit(bug)

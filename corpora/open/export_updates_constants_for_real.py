# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD164"
# title = "torch.export: the export itself updates a counter that is a plain tensor attribute"
# harm = "wrong later"
# reach = "everyday"
# reach-because = "a counter or cache in a plain tensor attribute: export silently changes it"
# evidence = ["https://github.com/meta-llama/llama-models/pull/380"]
# topics = ["constants", "kv-cache"]
# cause = """
# Non-strict export does not make plain attributes fake. FakeTensorMode runs operators without fake arguments
# for real if they also accept numbers, such as add. It should not do so for operators that write, like
# `add_`. The exported program starts with the changed counter."""
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "constant"]]
# unmasked = [
#   # A preserved module copies the constant to itself, as `.to` of a constant has a fake tensor of its own.
#   ["structure", "mismatch", "steps", "extra", "operator"],
# ]
# fix = "fake_mode_writes_to_no_real_tensor"
# upstream = "https://github.com/pytorch/pytorch/pull/145593"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_subclasses/fake_tensor.py, FakeTensorMode._dispatch_impl: runs in-place ops for real"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Exporting must not change a model, but here it increases a counter from 0 to 1.

Non-strict export does not make plain attributes fake. FakeTensorMode runs operators without fake arguments
for real if they also accept numbers, such as add. It should not do so for operators that write, like `add_`.
The exported program starts with the changed counter.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.count = torch.zeros(1)

    def forward(self, x):
        return x + self.count.add_(1)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args)
    return 0.0, model.count.item()


def make_workaround():
    """Register the tensor as a buffer."""

    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(1), persistent=False)

        def forward(self, x):
            return x + self.count.add_(1)

    return Counting(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: count is 0 before export, {got:g} after it")
    raise SystemExit(bug)

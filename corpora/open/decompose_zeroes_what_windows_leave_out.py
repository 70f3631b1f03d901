# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD059"
# title = "run_decompositions: a write to the windows of unfold zeroes the elements between them"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "code that changes parts of a signal at equal distances in place"
# topics = ["in-place", "views"]
# cause = """
# Functionalization replaces a write to `x.unfold(...)` by the inverse of unfold, for which it uses
# `unfold_backward`. This gives zeros for elements that are in no window. They should keep their values."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "windows_are_written_as_blocks"
# upstream = "https://github.com/pytorch/pytorch/issues/198102"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/198105"
# at-fault = "aten/src/ATen/FunctionalInverses.cpp, unfold_inverse: unfold_backward with base.sizes()"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model zeroes the first two of every four samples. The decomposed program zeroes all of them.

Functionalization replaces a write to `x.unfold(...)` by the inverse of unfold, for which it uses
`unfold_backward`. This gives zeros for elements that are in no window. They should keep their values.
"""

import sys

import torch
from torch import nn


class Silence(nn.Module):
    def forward(self, signal):
        signal = signal.clone()
        signal.unfold(0, 2, 4).zero_()  # first difference
        return signal


def make():
    return Silence(), (torch.ones(8),)


def show():
    model, args = make()
    decomposed = torch.export.export(model, args).run_decompositions().module()
    return model(*args), decomposed(*args)


def make_workaround():
    """Write to a slice of a view instead of to windows."""

    class Slicing(Silence):
        def forward(self, signal):
            signal = signal.clone()
            signal.view(2, 4)[:, :2].zero_()
            return signal

    return Slicing(), (torch.ones(8),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, decomposed {got.tolist()}")
    raise SystemExit(bug)

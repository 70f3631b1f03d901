# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD070"
# title = "draft_export: a branch on the value of a parameter depends on uninitialized memory"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a learned threshold or gate that forward reads by value: the purpose of draft_export"
# topics = ["control-flow"]
# cause = """
# draft_export computes with a real tensor for each fake one, so that a model can branch on values.
# `_safe_copy` fills it only if the type is exactly torch.Tensor. An nn.Parameter is a subclass, so that its
# real tensor stays uninitialized. (With use_deterministic_algorithms, torch fills such memory with nan, so
# that this file always shows the same.)"""
# path = "draft:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# undetected-because = "draft paths are judged only where the report of draft_export names no problem"
# fix = "draft_export_copies_values_of_parameters"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_subclasses/meta_utils.py, _safe_copy: if type(src) is not torch.Tensor: return"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "fixed"
# "2.15.0" = "fixed"
# ///
"""The gate is 1, and eager adds 1. The draft-exported program raises: it asserts that the gate is not
positive.

draft_export computes with a real tensor for each fake one, so that a model can branch on values. `_safe_copy`
fills it only if the type is exactly torch.Tensor. An nn.Parameter is a subclass, so that its real tensor
stays uninitialized. (With use_deterministic_algorithms, torch fills such memory with nan, so that this file
always shows the same.)
"""

import sys
import warnings

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = torch.nn.Parameter(torch.tensor(1.0))

    def forward(self, x):
        if self.gate > 0:
            return x + 1
        return x - 1


def make():
    return Model(), (torch.zeros(2),)


def show():
    warnings.simplefilter("ignore")
    torch.use_deterministic_algorithms(True)
    model, args = make()
    expected = model(*args)
    program = torch.export.draft_export(model, args).module()
    return expected, program(*args)


def make_workaround():
    """Choose between the results with torch.where."""

    class Choosing(Model):
        def forward(self, x):
            return torch.where(self.gate > 0, x + 1, x - 1)

    return Choosing(), (torch.zeros(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, the exported program raises {error!r:.100}")
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program gives {got}")
    raise SystemExit(bug)

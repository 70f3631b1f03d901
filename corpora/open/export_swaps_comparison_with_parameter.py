# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD351"
# title = "torch.export: `x.t() > self.weight` has the strides of x.t(), in eager those of the parameter"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "a transposed tensor, compared with a parameter of the same shape"
# topics = ["layout"]
# cause = """
# Python asks the right operand of a comparison first if its class is a subclass of that of the left one.
# Parameter is a subclass of Tensor: eager computes `weight < x.t()`. While export traces, both have the class
# FakeTensor, so that the graph has `x.t() > weight`. FakeTensor should ask a parameter first."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "stride", "fresh"]]
# fix = "fake_parameters_are_asked_first_in_comparisons"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_subclasses/fake_tensor.py, FakeTensor: the comparisons are those of Tensor"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A transposed input is compared with a parameter. The result has the strides of the parameter in eager, and
those of the transposed input in the program.

Python asks the right operand of a comparison first if its class is a subclass of that of the left one.
Parameter is a subclass of Tensor: eager computes `weight < x.t()`. While export traces, both have the class
FakeTensor, so that the graph has `x.t() > weight`. FakeTensor should ask a parameter first.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2, 3))

    def forward(self, x):
        return x.t() > self.weight  # first difference


def make():
    return Model(), (torch.ones(3, 2),)


def show():
    model, args = make()
    program = torch.export.export(model, args).module()
    return model(*args).stride(), program(*args).stride()


def make_workaround():
    """Write the parameter as the left operand."""

    class Turned(Model):
        def forward(self, x):
            return self.weight < x.t()

    return Turned(), (torch.ones(3, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives strides {expected}, the exported program {got}")
    raise SystemExit(bug)

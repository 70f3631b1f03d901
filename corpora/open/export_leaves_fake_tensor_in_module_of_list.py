# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD131"
# title = "torch.export: a buffer assigned in a module that is kept in a list stays a fake tensor"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a helper kept in a list, to hide its weights, that updates a statistic"
# topics = ["buffers", "moving-averages", "constants"]
# cause = """
# The helper assigns its buffer. After tracing, `_reparametrize_module` restores the parameters and buffers of
# registered modules, and `_detect_attribute_assignment` their other attributes. Both skip the helper, because
# `named_modules()` does not have it. So it keeps a fake tensor. (The list keeps the weights of the helper out
# of the state dict.)"""
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "attribute of an unregistered module"]]
# fix = "unregistered_modules_are_restored"
# upstream = "https://github.com/pytorch/pytorch/issues/155114"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# defended = "https://github.com/pytorch/pytorch/issues/153062: as designed in non-strict tracing"
# at-fault = "torch/export/_trace.py, _export_to_aten_ir_make_fx: restores registered modules only"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model keeps a helper module in a plain list. After it was exported, it returns fake tensors in eager.

The helper assigns its buffer. After tracing, `_reparametrize_module` restores the parameters and buffers of
registered modules, and `_detect_attribute_assignment` their other attributes. Both skip the helper, because
`named_modules()` does not have it. So it keeps a fake tensor. (The list keeps the weights of the helper out
of the state dict.)
"""

import sys

import torch
from torch import nn


class Teacher(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(2))

    def forward(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
        return x - self.mean


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.teacher = [Teacher()]

    def forward(self, x):
        return x + self.teacher[0](x)


def make():
    return Model(), (torch.ones(3, 2),)


def show():
    model, args = make()
    expected = type(model(*args)).__name__
    model, args = make()
    torch.export.export(model, args, strict=False)
    return expected, type(model(*args)).__name__


def make_workaround():
    """Keep the module in an nn.ModuleList, and write to its buffer in place."""

    class Writing(Teacher):
        def __init__(self):
            nn.Module.__init__(self)
            self.register_buffer("mean", torch.zeros(2), persistent=False)

        def forward(self, x):
            self.mean.copy_(0.9 * self.mean + 0.1 * x.mean(0))
            return x - self.mean

    class Listing(Model):
        def __init__(self):
            nn.Module.__init__(self)
            self.teacher = nn.ModuleList([Writing()])

    return Listing(), (torch.ones(3, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager returns a {expected}, after an export a {got}")
    raise SystemExit(bug)

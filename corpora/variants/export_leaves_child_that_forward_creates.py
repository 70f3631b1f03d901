# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: a child that forward replaces stays on the model, with fake parameters"
# variant-of = "export_leaves_fake_tensor_for_buffer_of_none"
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "parameter"]]
# fix = "export_restores_own_attributes_of_modules"
# upstream = ""
# at-fault = "torch/_functorch/_aot_autograd/frontend_utils.py, _detect_attribute_assignment: STD_ATTRS"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward replaces its child by a new one. After export, the model returns fake tensors in eager.

Non-strict export restores attributes after tracing, except those that every nn.Module has, such as the dict
of children. So a child with fake parameters stays in it. `_detect_attribute_assignment` should restore
children as well.
"""

import sys

import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1), requires_grad=False)

    def forward(self, x):
        return x * self.scale


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Scale()

    def forward(self, x):
        y = self.child(x)
        self.child = Scale()
        return y


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args, strict=False)
    return "Tensor", type(model(*args)).__name__


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: after it was exported, the model returns a {got}")
    raise SystemExit(bug)

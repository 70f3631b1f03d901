# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: a layer that forward puts into training mode stays in it after export"
# variant-of = "export_leaves_fake_tensor_for_buffer_of_none"
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "training flag"]]
# fix = "export_restores_own_attributes_of_modules"
# upstream = ""
# at-fault = "torch/_functorch/_aot_autograd/frontend_utils.py, _detect_attribute_assignment"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward calls `self.dropout.train()`, as for Monte Carlo dropout. After export, the model's dropout is in
training mode.

Exporting must not change the model. Non-strict export restores attributes after tracing, except those that
every nn.Module has, such as the training flag.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout()

    def forward(self, x):
        self.dropout.train()
        return self.dropout(x)


def make():
    return Model().eval(), (torch.ones(2),)


def show():
    model, args = make()
    torch.export.export(model, args)
    return False, model.dropout.training


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: after export, dropout.training is {got}")
    raise SystemExit(bug)

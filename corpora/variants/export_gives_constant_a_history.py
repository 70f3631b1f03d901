# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: exporting gives a plain tensor attribute a gradient history"
# variant-of = "export_updates_constants_for_real"
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "constant", "requires-grad"]]
# trigger = ["inplace.constant"]
# upstream = ""
# at-fault = "torch/export/_trace.py, _non_strict_export: traces with the real tensors of plain attributes"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Exporting must not change the model. Here, `model.scale` requires grad afterwards, so that
copy.deepcopy(model) raises.

Non-strict export does not make plain attributes fake. `self.scale.mul_(self.gain)` runs with the user's own
tensor. The fake kernel does not change its values, but autograd, which runs before, gives it a grad_fn.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.ones(1))
        self.scale = torch.ones(1)

    def forward(self, x):
        return x * self.scale.mul_(self.gain)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args, strict=False)
    return None, model.scale.grad_fn


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the constant has no grad_fn before export, {got} after")
    raise SystemExit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: a gradient has other strides if forward updates a transposed plain attribute"
# variant-of = "export_updates_constants_for_real"
# path = "nonstrict:module@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "stride", "state"]]
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
"""forward updates a transposed plain attribute with a parameter. The gradient of the parameter has strides
(2, 1) in eager, (1, 2) in the program.

Non-strict export does not make plain attributes fake, so that tracing gives the user's own tensor a gradient
history. `ep.module()` detaches it, after which it is no view any more. Autograd lays out the gradient of a
view like its base.
"""

import sys
import warnings

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.zeros(2, 2))
        self.scale = torch.ones(2, 2).t()

    def forward(self, x):
        self.scale.mul_(self.gain)
        self.scale[0] = 1.0
        return x * self.scale


def make():
    return Model(), (torch.ones(2, 2),)


def show():
    warnings.simplefilter("ignore")
    strides = []
    model, args = make()
    for module in (make()[0], torch.export.export(model, args, strict=False).module()):
        (gradient,) = torch.autograd.grad(module(*args), module.gain, torch.ones(2, 2))
        strides.append(gradient.stride())
    return strides[0], strides[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager's gradient has strides {expected}, the program's {got}")
    raise SystemExit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD137"
# title = "torch.export: the program raises if forward resets a parameter with torch.nn.init"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a forward that resets a parameter itself; training loops do so between calls"
# topics = ["no-grad"]
# cause = """
# torch.nn.init writes to the parameter under no_grad. Its functions can be overridden by a torch function
# mode, and while such a mode handles them it is off. So the mode of export that records no_grad does not see
# it."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError", "leaf Variable that requires grad is being used"]]
# fix = "export_records_grad_mode_of_init"
# upstream = "https://github.com/pytorch/pytorch/issues/159623"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = """
# torch/fx/experimental/proxy_tensor.py, PreDispatchTorchFunctionMode.__torch_function__: is off in func"""
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward resets a parameter with `torch.nn.init.constant_`. The exported program raises RuntimeError.

torch.nn.init writes to the parameter under no_grad. Its functions can be overridden by a torch function mode,
and while such a mode handles them it is off. So the mode of export that records no_grad does not see it.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x, reset=False):
        y = x * self.scale
        if reset:
            nn.init.constant_(self.scale, 0.5)
        return y


def make():
    return Model(), (torch.ones(3), True)


def show():
    model, args = make()
    program = torch.export.export(model, args).module()
    program(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "leaf Variable that requires grad" not in str(error):
            raise
        sys.exit(f"BUG: eager resets the parameter; in the exported program it is not: {error}")
    print("ok: eager resets the parameter; in the exported program it is updated")

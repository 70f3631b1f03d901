# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD089"
# title = "torch.export drops torch.inference_mode() in forward: the results require grad"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "prediction, or a frozen encoder, in inference mode: gradients flow through it"
# topics = ["no-grad"]
# cause = """
# Export records no_grad blocks. It does not see inference_mode, which a C++ guard enters. It should record
# it, for example as no_grad."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "requires-grad"]]
# unmasked = [
#   # enable_grad within inference_mode: it does nothing in eager, and gradients flow within no_grad.
#   [
#     "outputs",
#     "crash",
#     "export",
#     "RuntimeError",
#     "_compile.py:inner",
#     "proxy_tensor.py:__torch_dispatch__",
#     "proxy_tensor.py:proxy_call",
#   ],
# ]
# fix = "export_records_inference_mode_as_no_grad"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/autograd/grad_mode.py, inference_mode.__enter__ and _enter_inference_mode"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward runs under `torch.inference_mode()`. Eager's result requires no grad, that of the program does.

Export records no_grad blocks. It does not see inference_mode, which a C++ guard enters. It should record it,
for example as no_grad.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    @torch.inference_mode()
    def forward(self, x):
        return self.linear(x)  # first difference


def make():
    return Model(), (torch.ones(1, 2),)


def show():
    model, args = make()
    program = torch.export.export(model, args).module()
    return model(*args).requires_grad, program(*args).requires_grad


def make_workaround():
    """Use torch.no_grad."""

    class Plain(Model):
        @torch.no_grad()
        def forward(self, x):
            return self.linear(x)

    return Plain(), (torch.ones(1, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: requires_grad of the result: {expected} in eager, {got} after export")
    raise SystemExit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "pipeline: AssertionError for a Generator that forward creates"
# variant-of = "export_keeps_generator_of_forward"
# path = "pipeline:stages@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "AssertionError",
#         "_IR.py:from_tracing",
#         "_IR.py:_from_traced",
#         "_IR.py:move_param_to_callee",
#     ],
# ]
# trigger = ["op.seeded"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_export/passes/lift_constants_pass.py, lift_constants_pass: a Generator is no constant"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward creates and seeds a Generator. `pipeline` raises AssertionError: Expected '0.lifted_custom_0' to be
a tensor.

The Generator is created once, while export traces. `lift_constants_pass` makes a constant of it. `pipeline`
takes it for a parameter, and cannot move it to a stage. Export should refuse it.
"""

import sys

import torch
from torch import nn
from torch.distributed.pipelining import pipeline


class Noise(nn.Module):
    def forward(self, x):
        generator = torch.Generator().manual_seed(3)
        return x + torch.rand(2, generator=generator)


def make():
    return nn.Sequential(Noise(), nn.Linear(2, 2)), (torch.ones(2),)


def show():
    model, args = make()
    pipeline(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        if "torch._C.Generator" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, pipeline raises {error!r:.100}")
    print("ok: neither eager nor pipeline raises")

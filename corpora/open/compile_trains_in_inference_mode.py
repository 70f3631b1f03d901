# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD035"
# title = "torch.compile: RuntimeError in inference mode for a model that uses torch.enable_grad"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model with enable_grad, compiled and called in inference mode"
# topics = ["no-grad"]
# cause = """
# Dynamo compiles with no_grad instead of inference mode (`maybe_disable_inference_mode`). But enable_grad
# ends no_grad, so that AOTAutograd makes a training graph. This graph then runs in inference mode, where no
# tensor can be saved for backward."""
# path = "compile:aot_eager@cpu"
# check = "guards"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "guards",
#         "crash",
#         "served",
#         "run",
#         "RuntimeError",
#         "subclass_codegen.py:codegen(runtime_wrapper_orchestration):_runtime_wrapper",
#     ],
# ]
# trigger = ["region.enable_grad"]
# upstream = "https://github.com/pytorch/pytorch/issues/161191"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_dynamo/utils.py, maybe_disable_inference_mode: takes inference mode for no_grad"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""In inference mode, enable_grad does nothing in eager. The compiled model saves tensors for backward, and
raises.

Dynamo compiles with no_grad instead of inference mode (`maybe_disable_inference_mode`). But enable_grad ends
no_grad, so that AOTAutograd makes a training graph. This graph then runs in inference mode, where no tensor
can be saved for backward.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        with torch.enable_grad():
            return (self.w * 2).exp() + x


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    with torch.inference_mode():
        return model(*args), torch.compile(model, backend="aot_eager")(*args)


def make_workaround():
    """Leave enable_grad out: it does nothing in inference mode."""

    class Plain(Model):
        def forward(self, x):
            return (self.w * 2).exp() + x

    return Plain(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "saved for backward" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, torch.compile raises {error!r:.100}")
    print(f"ok: eager gives {expected}, torch.compile {got}")

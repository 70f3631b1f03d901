# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD380"
# title = "torch.export: RuntimeError if forward reads .data, as in self.weight.data.clamp_(min=0)"
# harm = "obscure error"
# reach = "everyday"
# reach-because = "weights that forward clamps, masks or averages by .data: codebooks, masked convolutions"
# evidence = [
#   "https://github.com/Project-MONAI/MONAI/blob/dev/monai/networks/layers/vector_quantizer.py",
#   "https://github.com/KevinMusgrave/pytorch-metric-learning",
# ]
# topics = ["data-attribute", "in-place"]
# cause = """
# The getter of `Tensor.data` works in C++ and calls no operator. So the tracer has no proxy for its result,
# and makes a constant of the fake tensor, which export refuses. `_NonStrictTorchFunctionHandler` should
# redirect the getter to detach."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "export", "RuntimeError", "We found fake tensor in the exported program"],
# ]
# fix = "record_reading_of_data"
# upstream = "https://github.com/pytorch/pytorch/issues/170673"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-27"
# at-fault = """
# torch/_export/non_strict_utils.py, _NonStrictTorchFunctionHandler._override: does not redirect
# Tensor.data.__get__"""
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward clamps a weight through `.data`. Eager runs; export raises RuntimeError about a fake tensor, and
asks to file an issue.

The getter of `Tensor.data` works in C++ and calls no operator. So the tracer has no proxy for its result, and
makes a constant of the fake tensor, which export refuses. `_NonStrictTorchFunctionHandler` should redirect
the getter to detach.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        self.linear.weight.data.clamp_(min=0)
        return self.linear(x)


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(1, 2),)


def show():
    model, args = make()
    torch.export.export(model, args)


def make_workaround():
    """Change the weight under torch.no_grad(), without .data."""

    class WithoutGradients(Model):
        def forward(self, x):
            with torch.no_grad():
                self.linear.weight.clamp_(min=0)
            return self.linear(x)

    torch.manual_seed(0)
    return WithoutGradients(), (torch.ones(1, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "found a fake tensor" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")

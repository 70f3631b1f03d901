# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD145"
# title = "torch.export: ValueError for .view() of torch.angle of a transposed complex tensor"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "the phase of a transposed spectrum, then view"
# topics = ["layout", "dtypes"]
# cause = """
# The kernel for complex numbers makes a contiguous result. `meta_angle` uses `empty_like`, which keeps the
# strides of the input. It should make an empty contiguous tensor."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "ValueError",
#         "fake_impls.py:_view_meta",
#         "__init__.py:_reshape_view_helper",
#         "__init__.py:_reshape_view_helper_core_alg",
#     ],
# ]
# fix = "angle_of_complex_numbers_is_contiguous"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_meta_registrations.py, meta_angle: empty_like of a complex tensor"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The angle of a transposed complex tensor is contiguous, so that eager can view it. Export cannot.

The kernel for complex numbers makes a contiguous result. `meta_angle` uses `empty_like`, which keeps the
strides of the input. It should make an empty contiguous tensor.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.fft.fft(x).t().angle().view(-1)


def make():
    return Model(), (torch.ones(3, 2),)


def show():
    model, args = make()
    model(*args)
    torch.export.export(model, args)


def make_workaround():
    """Make the operand contiguous."""

    class Contiguous(Model):
        def forward(self, x):
            return torch.fft.fft(x).t().contiguous().angle().view(-1)

    return Contiguous(), (torch.ones(3, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except ValueError as error:
        if "Cannot view a tensor" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r}")
    print("ok: neither eager nor export raises")

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD146"
# title = "torch.export: ValueError for .view() of the batch norm of a transposed tensor"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "features behind time, transposed for a batch norm, then view"
# topics = ["layout", "norms"]
# cause = """
# The CPU kernel makes a contiguous result (or a channels-last one). The decomposition
# `native_batch_norm_helper` uses elementwise operators, which keep the strides of the input. It should make
# its result contiguous on the CPU."""
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
# fix = "batch_norm_is_contiguous_on_cpu"
# upstream = "https://github.com/pytorch/pytorch/issues/192668"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/192681"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_decomp/decompositions.py, native_batch_norm_helper: the output takes after the input"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The batch norm of a transposed tensor is contiguous, so that eager can view it. Export cannot.

The CPU kernel makes a contiguous result (or a channels-last one). The decomposition
`native_batch_norm_helper` uses elementwise operators, which keep the strides of the input. It should make its
result contiguous on the CPU.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(2)

    def forward(self, x):
        return self.norm(x.transpose(1, 2)).view(x.shape[0], -1)


def make():
    return Model().eval(), (torch.ones(1, 3, 2),)


def show():
    model, args = make()
    model(*args)
    torch.export.export(model, args)


def make_workaround():
    """Make the input contiguous."""

    class Contiguous(Model):
        def forward(self, x):
            return self.norm(x.transpose(1, 2).contiguous()).view(x.shape[0], -1)

    return Contiguous().eval(), (torch.ones(1, 3, 2),)


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

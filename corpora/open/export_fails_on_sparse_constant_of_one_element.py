# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD364"
# title = "torch.export: NotImplementedError if forward makes a tensor attribute with one element sparse"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a sparse tensor with one element, made of a constant and a number"
# topics = ["constants", "layout"]
# cause = """
# Fake tensors with one element remember their value, but sparse ones cannot. After an operator that returns
# such a tensor, `_dispatch_impl` forgets the values of all tensors of its storage. A sparse tensor has no
# storage, and should be left out."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "NotImplementedError",
#         "fake_tensor.py:_dispatch_impl",
#         "fake_tensor.py:invalidate_constant_aliases",
#         "_tensor.py:_typed_storage",
#     ],
# ]
# fix = "sparse_results_have_no_constant_aliases"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_subclasses/fake_tensor.py, _dispatch_impl: invalidate_constant_aliases(ten)"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward doubles a tensor attribute with one element, and makes it sparse. Export raises "Cannot access
storage of SparseTensorImpl".

Fake tensors with one element remember their value, but sparse ones cannot. After an operator that returns
such a tensor, `_dispatch_impl` forgets the values of all tensors of its storage. A sparse tensor has no
storage, and should be left out.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = torch.ones(1, 1)

    def forward(self, x):
        return (self.weights * 2).to_sparse() @ x


def make():
    return Model(), (torch.ones(1, 2),)


def show():
    model, args = make()
    torch.export.export(model, args)


def make_workaround():
    """Make the attribute sparse first, and compute with the result."""

    class SparseFirst(Model):
        def forward(self, x):
            return self.weights.to_sparse() @ x * 2

    return SparseFirst(), (torch.ones(1, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except NotImplementedError as error:
        if "Cannot access storage" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")

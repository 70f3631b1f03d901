# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD363"
# title = "torch.export: table[ids.t()], back in the order of ids, then view: \"Cannot view a tensor\""
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a transposed tensor of indices, as of batches that are not first, and a view of the result"
# topics = ["layout", "indexing"]
# cause = """
# `index` lays its result out as the indices are laid out. `meta_index_Tensor`, which predicts the strides,
# orders the dimensions by the strides of self alone. It should take the indices into account."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "export", "ValueError", "fake_impls.py:_view_meta"],
#     ["fake", "mismatch", "stride", "aten.index.Tensor"],
# ]
# fix = "index_follows_strides_of_its_indices"
# upstream = "https://github.com/pytorch/pytorch/issues/139312"
# upstream-match = "place"
# upstream-searched = "2026-11-27"
# at-fault = "torch/_meta_registrations.py, meta_index_Tensor: the perm of restrided_self alone"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward reads the rows of a table in the order of transposed indices, transposes the result back, and views
it as a matrix. Eager does not need to copy; export raises "Cannot view a tensor".

`index` lays its result out as the indices are laid out. `meta_index_Tensor`, which predicts the strides,
orders the dimensions by the strides of self alone. It should take the indices into account.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.ones(5, 4))

    def forward(self, ids):
        steps = self.table[ids.t()]
        return steps.transpose(0, 1).view(ids.shape[0], -1)


def make():
    return Model(), (torch.zeros(2, 3, dtype=torch.int64),)


def show():
    model, args = make()
    torch.export.export(model, args)


def make_workaround():
    """Make the indices contiguous, and use reshape instead of view."""

    class Reshaping(Model):
        def forward(self, ids):
            steps = self.table[ids.t().contiguous()]
            return steps.transpose(0, 1).reshape(ids.shape[0], -1)

    return Reshaping(), (torch.zeros(2, 3, dtype=torch.int64),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except ValueError as error:
        if "Cannot view a tensor" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")

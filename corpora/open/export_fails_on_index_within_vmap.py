# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD103"
# title = "torch.export: RuntimeError for table[i] inside of torch.vmap, where i is a tensor"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a look-up that is written for one example, and mapped over a batch by torch.vmap"
# topics = ["vmap", "indexing"]
# cause = """
# The model does not call item(). `_NonStrictTorchFunctionHandler` replaces indexing by a scalar tensor with
# `torch.select(table, 0, i.item())`. It should not do this for a batched tensor."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs", "crash", "export", "RuntimeError", "_compile.py:inner",
#         "proxy_tensor.py:__torch_dispatch__", "proxy_tensor.py:proxy_call",
#     ],
# ]
# # An index that is out of range raises within the level of vmap.
# unmasked = [["purity", "mismatch", "run", "global", "raised", "functorch level"]]
# fix = "export_indexes_by_batched_tensors"
# upstream = "https://github.com/pytorch/pytorch/issues/158540"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/186894"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/non_strict_utils.py, _NonStrictTorchFunctionHandler._override: item.item()"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "fixed"
# "2.13.0" = "shows"
# "2.14.1" = "fixed"
# "2.15.0" = "fixed"
# ///
"""`table[i]` works under torch.vmap in eager. Non-strict export says that vmap cannot call .item().

The model does not call item(). `_NonStrictTorchFunctionHandler` replaces indexing by a scalar tensor with
`torch.select(table, 0, i.item())`. It should not do this for a batched tensor.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, table, indices):
        return torch.vmap(lambda i: table[i])(indices)


def make():
    return Model(), (torch.ones(2), torch.tensor([0, 1]))


def show():
    model, args = make()
    torch.export.export(model, args, strict=False)


def make_workaround():
    """Index with all indices at once, without torch.vmap."""

    class Indexing(Model):
        def forward(self, table, indices):
            return table[indices]

    return Indexing(), (torch.ones(2), torch.tensor([0, 1]))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if ".item()" not in str(error):
            raise
        sys.exit(f"BUG: export raises {error!r:.100}")
    print("ok: export raises nothing")

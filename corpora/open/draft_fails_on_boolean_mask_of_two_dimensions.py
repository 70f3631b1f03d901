# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD063"
# title = "draft_export: PendingUnbackedSymbolNotFound for x[mask] if the mask has several dimensions"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "draft_export of a model that selects by a boolean mask of a matrix"
# topics = ["indexing", "dynamic-sizes"]
# cause = """
# The mask becomes two columns of indices. The second one has a symbolic storage offset: the number of
# selected elements. draft_export compares it with the offset of the real tensor (`r_offset != f_offset`),
# which fixes the symbol to a number. Then no result has the new symbol, and an internal check fails. It
# should not compare symbolic offsets."""
# path = "draft:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs", "crash", "export", "PendingUnbackedSymbolNotFound", "proxy_tensor.py:track_tensor_tree",
#         "proxy_tensor.py:_set_unbacked_bindings", "symbolic_shapes.py:compute_unbacked_bindings",
#     ],
# ]
# fix = "draft_export_compares_no_symbolic_offsets"
# upstream = "https://github.com/pytorch/pytorch/pull/151718"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_subclasses/fake_utils.py, _check_fake_real_tensors: r_offset != f_offset"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""draft_export of `x[x > 0]` raises for a matrix. torch.export exports it.

The mask becomes two columns of indices. The second one has a symbolic storage offset: the number of selected
elements. draft_export compares it with the offset of the real tensor (`r_offset != f_offset`), which fixes
the symbol to a number. Then no result has the new symbol, and an internal check fails. It should not compare
symbolic offsets.
"""

import sys

import torch
from torch.fx.experimental.symbolic_shapes import PendingUnbackedSymbolNotFound


class Model(torch.nn.Module):
    def forward(self, x):
        return x[x > 0]


def make():
    return Model(), (torch.ones(2, 2),)


def show():
    model, args = make()
    torch.export.export(model, args)
    torch.export.draft_export(model, args)


def make_workaround():
    """Use torch.masked_select."""

    class Selecting(Model):
        def forward(self, x):
            return torch.masked_select(x, x > 0)

    return Selecting(), (torch.ones(2, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except PendingUnbackedSymbolNotFound as error:
        sys.exit(f"BUG: torch.export exports it, draft_export raises {type(error).__name__}")
    print("ok: both export it")

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD067"
# title = "draft_export: PendingUnbackedSymbolNotFound for x // 2 of floats with a dynamic size"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "floor division of floats in a program with dynamic sizes; export takes it"
# topics = ["dynamic-sizes"]
# cause = """
# Floor division uses `prims.signbit`, whose fake result is float although the real one is bool. draft_export
# gives a result that differs from its prediction new symbolic sizes, and then does not find them in the
# outputs. `signbit` should predict bool."""
# path = "draft:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [[
#   "outputs", "crash", "export", "PendingUnbackedSymbolNotFound", "proxy_tensor.py:track_tensor_tree",
#   "proxy_tensor.py:_set_unbacked_bindings", "symbolic_shapes.py:compute_unbacked_bindings",
# ]]
# fix = "draft_export_keeps_sizes_of_another_type"
# upstream = "https://github.com/pytorch/pytorch/pull/146089"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_prims/__init__.py, signbit: type_promotion is DEFAULT, not ALWAYS_BOOL"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""torch.export accepts `x // 2` with a dynamic number of rows. draft_export should accept more, but raises.

Floor division uses `prims.signbit`, whose fake result is float although the real one is bool. draft_export
gives a result that differs from its prediction new symbolic sizes, and then does not find them in the
outputs. `signbit` should predict bool.
"""

import sys

import torch
from torch import nn
from torch.export import Dim
from torch.fx.experimental.symbolic_shapes import PendingUnbackedSymbolNotFound


class Half(nn.Module):
    def forward(self, x):
        return x // 2


def make():
    return Half(), (torch.ones(4),)


def dynamic_shapes():
    return {"x": {0: Dim("n")}}


def show():
    model, args = make()
    torch.export.export(model, args, dynamic_shapes=dynamic_shapes())
    torch.export.draft_export(model, args, dynamic_shapes=dynamic_shapes())


def make_workaround():
    """Divide, and round down."""

    class Rounding(Half):
        def forward(self, x):
            return torch.floor(x / 2)

    return Rounding(), (torch.ones(4),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except PendingUnbackedSymbolNotFound as error:
        sys.exit(f"BUG: {error!r:.100}")
    print("ok: draft_export takes a floor division")

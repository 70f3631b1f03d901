# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD332"
# title = "torch.export: RuntimeError about fx.symbolic_trace if forward calls nested_tensor_from_jagged"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model that packs sequences of several lengths into a jagged tensor"
# topics = ["containers"]
# cause = """
# `nested_tensor_from_jagged` asks is_fx_tracing(), which is also true while torch.export traces. It should
# ask is_fx_symbolic_tracing(). That alone is not enough: export then fails because it does not track the
# size of the jagged dimension."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "RuntimeError",
#         "_symbolic_trace.py:call_module",
#         "_symbolic_trace.py:forward",
#         "__init__.py:nested_tensor_from_jagged",
#     ],
# ]
# trigger = ["idiom.sparse"]
# upstream = "https://github.com/pytorch/pytorch/issues/135276"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-26"
# at-fault = "torch/nested/__init__.py, nested_tensor_from_jagged: asks is_fx_tracing()"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model makes a jagged tensor in forward. Export raises, and speaks of fx.symbolic_trace.

`nested_tensor_from_jagged` asks is_fx_tracing(), which is also true while torch.export traces. It should
ask is_fx_symbolic_tracing(). That alone is not enough: export then fails because it does not track the
size of the jagged dimension.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, values, offsets):
        rows = torch.nested.nested_tensor_from_jagged(values, offsets)
        return rows.values() * 2


def make():
    return Model(), (torch.ones(3, 2), torch.tensor([0, 1, 3]))


def show():
    model, args = make()
    torch.export.export(model, args)


def make_workaround():
    """Compute with the values and the offsets, and make the jagged tensor outside of the model."""

    class OfValues(Model):
        def forward(self, values, offsets):
            return values * 2

    return OfValues(), (torch.ones(3, 2), torch.tensor([0, 1, 3]))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "fx.symbolic_trace" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")

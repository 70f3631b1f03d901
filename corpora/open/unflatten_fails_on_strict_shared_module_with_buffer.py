# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD253"
# title = "unflatten of a strict export: RuntimeError for a non-persistent buffer used under two names"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "one layer under two names, called by one and its cache read by the other, strict export"
# topics = ["shared-modules", "buffers", "kv-cache"]
# cause = """
# Strict export knows this buffer under one name only (`_move_non_persistent_buffers_to_tensor_constants`).
# unflatten makes it there, and then keeps the layer that it makes under the other name. A persistent buffer
# has both names."""
# path = "strict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "lower", "RuntimeError",
#      "unflatten.py:unflatten", "unflatten.py:__init__", "graph.py:lint"],
# ]
# fix = "strict_keeps_buffers_under_all_names"
# upstream = "https://github.com/pytorch/pytorch/pull/136552"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_trace.py, _move_non_persistent_buffers_to_tensor_constants: one name"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A layer is twice in a list. The model updates its non-persistent buffer under both names, and reads it.
Unflattened after strict export, the model raises RuntimeError.

Strict export knows this buffer under one name only (`_move_non_persistent_buffers_to_tensor_constants`).
unflatten makes it there, and then keeps the layer that it makes under the other name. A persistent buffer has
both names.
"""

import sys

import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(2), persistent=False)

    def forward(self, x):
        self.last.copy_(x)
        return x + 1


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer()] * 2)

    def forward(self, x):
        return self.layers[1](self.layers[0](x)) + self.layers[0].last


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=True)
    return model(*args), torch.export.unflatten(program)(*args)


def make_workaround():
    """Use one name for the layer."""

    class OneName(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = Layer()

        def forward(self, x):
            return self.layer(self.layer(x)) + self.layer.last

    return OneName(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "nonexistent attribute" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD251"
# title = "unflatten: RuntimeError if a preserved submodule returns a torch.Size"
# harm = "clear error"
# reach = "occasional"
# reach-because = "a preserved submodule that returns x.shape next to its features"
# topics = ["containers"]
# cause = """
# The recorded signature has a torch.Size. Put together again by pytree, the result is a tuple, and
# `tree_flatten_spec` compares the two exactly. It should accept a tuple for a torch.Size, as `ep.module()`
# does."""
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [[
#   "outputs", "crash", "run", "RuntimeError", "_pytree.py:tree_flatten_spec", "_pytree.py:tree_flatten_spec",
# ]]
# fix = "flatten_sizes_as_tuples"
# upstream = "https://github.com/pytorch/pytorch/pull/111993"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/111993"
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/_pytree.py, tree_flatten_spec: spec != real_spec"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved encoder returns its features and their shape. The unflattened model raises "Real spec ... does
not match expected spec".

The recorded signature has a torch.Size. Put together again by pytree, the result is a tuple, and
`tree_flatten_spec` compares the two exactly. It should accept a tuple for a torch.Size, as `ep.module()`
does.
"""

import sys

import torch
from torch import nn


class Encoder(nn.Module):
    def forward(self, x):
        return x.relu(), x.shape


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()

    def forward(self, x):
        features, shape = self.encoder(x)
        return features.flatten().view(shape)


def make():
    return Model(), (torch.ones(2, 3),)


def show():
    model, args = make()
    program = torch.export.export(model, args, preserve_module_call_signature=("encoder",))
    return model(*args), torch.export.unflatten(program)(*args)


def make_workaround():
    """Return a tuple."""

    class Plain(Encoder):
        def forward(self, x):
            return x.relu(), tuple(x.shape)

    model = Model()
    model.encoder = Plain()
    return model, (torch.ones(2, 3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    print(f"ok: eager gives {expected}, unflatten {got}")

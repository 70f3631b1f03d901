# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD046"
# title = "run_decompositions: removes detach(), so that fake quantization raises: its scale requires grad"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "observers and fake quantization: a decomposed model raises unless called under no_grad"
# topics = ["no-grad", "quantization"]
# cause = """
# The default table replaces `detach` by `alias` (`nop_decomposition`). A comment there says that this is
# right only if the graph runs without autograd, but `ep.module()` runs with it. `run_decompositions({})`
# keeps detach, and works."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "run", "RuntimeError", "The function is not differentiable with respect to"],
# ]
# fix = "decomposed_programs_keep_detach"
# upstream = "https://github.com/pytorch/pytorch/pull/110102"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_decomp/decompositions.py, nop_decomposition: makes alias of detach, stops no gradient"
# workaround = "none: run_decompositions({}) keeps detach; the default table needs a call under torch.no_grad"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model computes a scale from detached activations. The decomposed program raises when it is called.

The default table replaces `detach` by `alias` (`nop_decomposition`). A comment there says that this is right
only if the graph runs without autograd, but `ep.module()` runs with it. `run_decompositions({})` keeps
detach, and works.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.register_buffer("zero_point", torch.zeros(1, dtype=torch.int))

    def forward(self, x):
        y = self.linear(x)
        scale = y.detach().abs().max().reshape(1) / 127
        return torch.fake_quantize_per_tensor_affine(y, scale, self.zero_point, -128, 127)


def make():
    return Model(), (torch.ones(1, 2),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    ep.run_decompositions({}).module()(*args)
    module = ep.run_decompositions().module()
    module(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager runs, the decomposed program raises {error}")
    print("ok: the decomposed program runs")

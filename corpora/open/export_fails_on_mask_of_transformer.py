# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD381"
# title = "torch.export: GuardOnDataDependentSymNode for nn.TransformerEncoder with a mask"
# harm = "obscure error"
# reach = "everyday"
# reach-because = "language models that give nn.TransformerEncoder or nn.Transformer a causal mask"
# evidence = [
#   "https://github.com/pytorch/examples/blob/main/word_language_model/model.py",
#   "https://github.com/pytorch/pytorch/issues/134616",
# ]
# topics = ["attention", "control-flow"]
# cause = """
# `_detect_is_causal_mask` compares the mask with a causal one, and takes the bool of the result. During
# export, the mask has no values. The answer is only a hint for speed, so the function should not ask while
# torch is exporting."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# undetected-because = "export documents that it refuses branches on values; here the branch is one of torch"
# fix = "export_detects_no_causal_mask"
# upstream = "https://github.com/pytorch/pytorch/issues/134616"
# upstream-match = "symptom"
# upstream-searched = "2026-11-27"
# at-fault = "torch/nn/modules/transformer.py, _detect_is_causal_mask: bool((mask == causal).all())"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A language model gives nn.TransformerEncoder a causal mask. Eager runs; export raises
GuardOnDataDependentSymNode.

`_detect_is_causal_mask` compares the mask with a causal one, and takes the bool of the result. During export,
the mask has no values. The answer is only a hint for speed, so the function should not ask while torch is
exporting.
"""

import sys

import torch
from torch import nn
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(2, 1, 2, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.encoder(x, mask)


def make():
    torch.manual_seed(0)
    return Model(), (torch.randn(1, 3, 2),)


def show():
    model, args = make()
    torch.export.export(model, args)


def make_workaround():
    """Say that the mask is causal: is_causal=True, or False for any other mask."""

    class Causal(Model):
        def forward(self, x):
            mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
            return self.encoder(x, mask, is_causal=True)

    torch.manual_seed(0)
    return Causal(), (torch.randn(1, 3, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except GuardOnDataDependentSymNode as error:
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD118"
# title = "torch.export: nn.TransformerEncoder returns nonzero values for padding (eval, no_grad)"
# harm = "silently wrong"
# reach = "everyday"
# reach-because = "a mean over what an encoder returns for padded sequences: silently another result"
# evidence = ["https://github.com/pytorch/pytorch/issues/178677"]
# topics = ["attention", "train-eval"]
# cause = """
# In eval mode under no_grad, `TransformerEncoder.forward` computes with a nested tensor, which has no padded
# positions, and then pads its result with zeros. While it is traced it cannot look at the mask, and computes
# without a nested tensor. It should also fill the padded positions with zeros there."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# # Eager's fused kernel calls no children of a layer, with padding or without.
# unmasked = [["structure", "mismatch", "calls", "order"]]
# fix = "transformer_pads_with_zeros_when_traced"
# upstream = "https://github.com/pytorch/pytorch/issues/178677"
# upstream-match = "mechanism"
# at-fault = "torch/nn/modules/transformer.py, TransformerEncoder.forward: do_mask_check and is_compiling()"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The second position is padding. Eager returns zeros there; the program returns what the layers compute.

In eval mode under no_grad, `TransformerEncoder.forward` computes with a nested tensor, which has no padded
positions, and then pads its result with zeros. While it is traced it cannot look at the mask, and computes
without a nested tensor. It should also fill the padded positions with zeros there.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(2, 2, 2, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1)

    @torch.no_grad()
    def forward(self, x, padding):
        return self.encoder(x, src_key_padding_mask=padding)  # first difference


def make():
    return Model().eval(), (torch.rand(1, 2, 2), torch.tensor([[False, True]]))


def show():
    model, args = make()
    return model(*args)[0, 1], torch.export.export(model, args).module()(*args)[0, 1]


def make_workaround():
    """Switch the nested tensor off, and fill the padded positions of the result with zeros."""

    class Filling(nn.Module):
        def __init__(self):
            super().__init__()
            layer = nn.TransformerEncoderLayer(2, 2, 2, batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

        @torch.no_grad()
        def forward(self, x, padding):
            y = self.encoder(x, src_key_padding_mask=padding)
            return y.masked_fill(padding.unsqueeze(-1), 0.0)

    return Filling().eval(), (torch.rand(1, 2, 2), torch.tensor([[False, True]]))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: for padding eager gives {expected}, the program {got}")
    raise SystemExit(bug)

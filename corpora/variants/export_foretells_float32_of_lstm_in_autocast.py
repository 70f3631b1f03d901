# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: the graph records float32 for nn.LSTM within autocast, which gives bfloat16"
# variant-of = "decompose_computes_einsum_without_autocast"
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# stage = "export"
# status = "open"
# signatures = [["fake", "mismatch", "dtype", "wrap_with_autocast"]]
# trigger = ["region.autocast"]
# upstream = "https://github.com/pytorch/pytorch/issues/137274"
# upstream-match = "mechanism"
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/_decomp/decompositions.py, lstm_impl: runs where autocast is off"
# ///
"""Export takes the LSTM apart to see what it gives, where autocast is off; the program gives bfloat16."""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(2, 3)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.rnn(x)[0]


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(2, 1, 2),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    ep = torch.export.export(*make())
    (output,) = ep.graph.find_nodes(op="output")[0].args[0]
    foretold, seen = output.meta["val"].dtype, ep.module()(*make()[1]).dtype
    print(f"{'BUG' if foretold != seen else 'ok'}: {foretold} is recorded, the program gives {seen}")
    raise SystemExit(foretold != seen)

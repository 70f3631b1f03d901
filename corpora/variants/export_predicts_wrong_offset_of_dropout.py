# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "The offset recorded for dropout in eval mode is not the one it has"
# variant-of = "compile_takes_dropout_in_eval_for_a_copy"
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "offset", "aten.dropout.default"]]
# fix = "dropout_returns_input"
# upstream = "https://github.com/pytorch/pytorch/issues/115249"
# upstream-match = "mechanism"
# at-fault = "torch/_decomp/decompositions.py, dropout: returns input.clone()"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "fixed"
# "2.15.0" = "fixed"
# ///
"""Dropout in eval mode returns its input, which begins at offset 1; the graph says that it begins at 0.

The decomposition that traces it returns `input.clone()`.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("part", torch.zeros(2)[1:])

    def forward(self, x):
        return nn.functional.dropout(self.part, training=False) + x


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    (node,) = ep.graph.find_nodes(op="call_function", target=torch.ops.aten.dropout.default)
    return 1, node.meta["val"].storage_offset()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: what dropout returns has offset 1, recorded is {got}")
    raise SystemExit(bug)

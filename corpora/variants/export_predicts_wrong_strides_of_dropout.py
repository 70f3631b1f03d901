# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: the graph records wrong strides for dropout in eval mode, which returns its input"
# variant-of = "compile_takes_dropout_in_eval_for_a_copy"
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "stride", "aten.dropout.default"]]
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
"""Dropout in eval mode returns its input, here an expanded tensor with stride 0. The graph records stride 1.

In torch 2.13, the decomposition of dropout returns `input.clone()` if `train` is False. Newer versions return
`input`. A compiler that plans views by the recorded strides makes mistakes.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return nn.functional.dropout(x, training=False) + 1


def make():
    return Model(), (torch.ones(1).expand(2),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    (node,) = ep.graph.find_nodes(op="call_function", target=torch.ops.aten.dropout.default)
    return (0,), node.meta["val"].stride()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: dropout gives strides (0,), the graph says {got}")
    raise SystemExit(bug)

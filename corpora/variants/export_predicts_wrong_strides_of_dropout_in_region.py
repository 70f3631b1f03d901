# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "The strides recorded for a no_grad region that ends in dropout in eval mode are not those it has"
# variant-of = "compile_takes_dropout_in_eval_for_a_copy"
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "stride", "wrap_with_set_grad_enabled"]]
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
"""A no_grad region returns its input as dropout leaves it; the graph says that it returns a contiguous copy.

Eager and `ep.module()` give strides (0,), the fake tensor of the region (1,). The wrong strides leave the
region as its own.
"""

import operator
import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        with torch.no_grad():
            x = nn.functional.dropout(x, training=False)
        return x + 1


def make():
    return Model(), (torch.ones(1).expand(2),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    (node,) = ep.graph.find_nodes(op="call_function", target=operator.getitem)
    return (0,), node.meta["val"].stride()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the region gives strides (0,), the graph says {got}")
    raise SystemExit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "The strides recorded for a no_grad region that ends in dropout in eval mode are not those it has"
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "stride", "wrap_with_set_grad_enabled"]]
# affected = "2.13.0"
# at-fault = "torch/_decomp/decompositions.py, dropout: returns input.clone()"
# ///
"""A no_grad region returns its input as dropout leaves it; the graph says that it returns a contiguous copy.

Eager and `ep.module()` give strides [0, 1], the fake tensor of the region [2, 1]. The cause is that of
export_foretells_strides_of_dropout; the wrong strides leave the region as its own.
"""

import operator
import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        with torch.no_grad():
            x = nn.functional.dropout(x, 0.5, False)
        return x + 1


def make():
    return Model(), (torch.ones(1, 2).expand(2, 2),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    ep = torch.export.export(model, args, strict=False)
    (node,) = ep.graph.find_nodes(op="call_function", target=operator.getitem)
    told = node.meta["val"].stride()
    given = nn.functional.dropout(*args, 0.5, False).stride()
    bug = told != given
    print(f"{'BUG' if bug else 'ok'}: dropout gives strides {given}, the region is said to give {told}")
    sys.exit(bug)

# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "The strides recorded for dropout in eval mode are not those it has"
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "stride", "aten.dropout.default"]]
# affected = "2.13.0"
# at-fault = "torch/_decomp/decompositions.py, dropout: returns input.clone()"
# ///
"""Dropout in eval mode returns its input; the graph says that it returns a contiguous copy.

Eager and `ep.module()` give strides [0, 1], the node's fake tensor [2, 1]: the decomposition that traces it
returns `input.clone()`, which makes an expanded tensor contiguous. Whoever plans memory or views by the
recorded metadata is misled.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return nn.functional.dropout(x, 0.5, False) + 1


def make():
    return Model(), (torch.ones(1, 2).expand(2, 2),)


class Compare(torch.fx.Interpreter):
    """Runs a graph; compares the stride of each node with what its fake tensor said."""

    def run_node(self, node):
        result = super().run_node(node)
        fake = node.meta.get("val")
        if node.op == "call_function" and isinstance(result, torch.Tensor):
            told, seen = (
                [s for n, s in zip(t.shape, t.stride(), strict=True) if n > 1 and t.numel()]
                for t in (fake, result)
            )
            # A symbol stands for any size.
            if [b if isinstance(a, torch.SymInt) else a for a, b in zip(told, seen, strict=False)] != seen:
                wrong.append(f"stride of {node.name} is {seen}, foretold was {told}")
        return result


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    ep = torch.export.export(model, args, strict=False)
    candidate = ep.module()
    args = make()[1]
    wrong = []
    Compare(candidate).run(*torch.utils._pytree.tree_leaves((args,)), enable_io_processing=False)
    print(f"BUG: {wrong[0]}" if wrong else "ok: every node is what its fake tensor foretold")
    sys.exit(bool(wrong))

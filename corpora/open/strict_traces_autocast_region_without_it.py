# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "Strict export records float32 for what autocast makes bfloat16"
# path = "strict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "dtype", "wrap_with_autocast"]]
# affected = "2.13.0"
# at-fault = "torch/fx/experimental/proxy_tensor.py, PreDispatchTorchFunctionMode: _enter_autocast is not run"
# ///
"""Everything that a strict export traces under autocast is recorded with the dtype that it has without.

The program computes bfloat16, as eager does; the graph says float32. While the graph of Dynamo is traced, the
mode that records `_enter_autocast` counts on the Python context manager to have entered autocast itself:
so it is without strict, but the graph calls `_enter_autocast` alone.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return x @ x


def make():
    return Model(), (torch.ones(2, 2),)


class Compare(torch.fx.Interpreter):
    """Runs a graph; compares the dtype of each node with what its fake tensor said."""

    def run_node(self, node):
        result = super().run_node(node)
        fake = node.meta.get("val")
        if node.op == "call_function" and isinstance(result, torch.Tensor):
            told, seen = ([t.dtype] for t in (fake, result))
            # A symbol stands for any size.
            if [b if isinstance(a, torch.SymInt) else a for a, b in zip(told, seen, strict=False)] != seen:
                wrong.append(f"dtype of {node.name} is {seen}, foretold was {told}")
        return result


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    ep = torch.export.export(model, args, strict=True)
    candidate = ep.module()
    args = make()[1]
    wrong = []
    Compare(candidate).run(*torch.utils._pytree.tree_leaves((args,)), enable_io_processing=False)
    print(f"BUG: {wrong[0]}" if wrong else "ok: every node is what its fake tensor foretold")
    sys.exit(bool(wrong))

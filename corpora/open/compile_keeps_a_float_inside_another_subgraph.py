# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "A float attribute that has changed cannot be used in two checkpoints"
# path = "compile:compiled@cpu"
# check = "guards"
# kind = "crash"
# status = "open"
# signatures = [
#     ["guards", "crash", "served", "run",
#      "AssertionError", "output_graph.py:maybe_lift_tracked_freevar_to_input"],
# ]
# affected = "2.13.0"
# at-fault = "torch/_dynamo/variables/builder.py, wrap_symfloat: `item` may be put into a subgraph"
# ///
"""Another face of compile_keeps_a_float_inside_a_subgraph.py: the float is used in one more subgraph.

The node `item` that stands for the float is in the graph of the first checkpoint. For the second one Dynamo
looks for it in the graphs around, and does not find it even in the outermost.
"""

import sys
import warnings

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 2.0

    def forward(self, x):
        y = checkpoint(lambda t: t * self.scale, x, use_reentrant=False)
        return checkpoint(lambda t: t * self.scale, y, use_reentrant=False)


def make():
    return Model(), (torch.ones(2),)


def compiled(model):
    """The model itself: its state keeps its names, its calls are compiled."""
    model.compile(backend="eager")
    return model


def look(out, given, module):
    """The values of outputs, inputs and state."""
    leaves = {"output": torch.utils._pytree.tree_leaves(out), "input": torch.utils._pytree.tree_leaves(given)}
    named = [(f"{kind} {i}", t) for kind in leaves for i, t in enumerate(leaves[kind])]
    for store in (module.named_parameters, module.named_buffers):
        named += store(remove_duplicate=False)
    tensors = {n: f"{t.dtype} {list(t.shape)} {t.tolist()}" for n, t in named if hasattr(t, "dtype")}
    return {n: repr(t) for n, t in named} | tensors


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    eager, args = make()
    eager(*args)
    args = make()[1]
    eager.scale = 3.0
    expected = look(eager(*args), (args,), eager)
    model, args = make()
    candidate = compiled(model)
    candidate(*args)
    args = make()[1]
    candidate.scale = 3.0
    try:
        seen = look(candidate(*args), (args,), candidate)
    except Exception as error:
        print(f"BUG: torch.compile raises {type(error).__name__}: {str(error).strip()[:200]!r}")
        sys.exit(1)
    wrong = [n for n in expected if n in seen and seen[n] != expected[n]]
    for n in wrong[:1]:
        print(f"BUG: {n} is {seen[n]} instead of {expected[n]}"[:500])
    if not wrong:
        print("ok: torch.compile gives what eager gives")
    sys.exit(bool(wrong))

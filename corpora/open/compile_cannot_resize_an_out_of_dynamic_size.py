# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.compile raises where out= is to be resized and has had another size before"
# path = "compile:compiled@cpu"
# check = "guards"
# kind = "crash"
# status = "open"
# signatures = [
#     ["guards", "crash", "served", "run",
#      "TorchRuntimeError", "tried to directly modify sizes for customized tensor"],
# ]
# affected = "2.13.0"
# at-fault = "torch/_dynamo/variables/torch.py, call_function: out= is looked at after the fake call"
# ///
"""Any operator with `out=`, once in the right size and then in another: eager resizes it, with a warning.

Dynamo means to break the graph at a resized `out=` ("Shape mismatch with out= tensor variant"), but looks
only when the fake kernel has run. The second size makes the sizes symbolic, and the fake kernel cannot
resize such a tensor: "tried to directly modify sizes for customized tensor". Where the first call is the
one that resizes, the graph is broken as it should be.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("ones", torch.ones(2, 3))

    def forward(self, x):
        columns = x.shape[1]
        return torch.cat([self.ones], 0, out=x) * columns


def make():
    return Model(), (torch.zeros(2, 3),)


def compiled(model):
    """The model itself: its state keeps its names, its calls are compiled."""
    model.compile(backend="eager")
    return model


def other(*given):
    """The example, but for one argument."""
    pairs, spec = torch.utils._pytree.tree_flatten_with_path(given)
    leaves = [leaf for _, leaf in pairs]
    at = [torch.utils._pytree.keystr(p) for p, _ in pairs].index("[0][0]")
    leaf = leaves[at]
    leaves[at] = torch.cat([leaf, leaf[..., -1:]], -1)
    return torch.utils._pytree.tree_unflatten(leaves, spec)


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
    args, _ = other(args, {})
    expected = look(eager(*args), (args,), eager)
    model, args = make()
    candidate = compiled(model)
    candidate(*args)
    args = make()[1]
    args, _ = other(args, {})
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

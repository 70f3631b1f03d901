# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module() accepts an input with one dimension more, and takes the wrong branch"
# path = "nonstrict:module@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "accepted", "rank"]]
# affected = "2.13.0"
# at-fault = "torch/export/_unlift.py, _get_input_guards_for_graph: sizes alone are guarded"
# ///
"""A batch of samples where one was exported: eager sums over dimension 1, `ep.module()` over 0.

The guards speak of `x.size()[0]` and `x.size()[1]` alone. The older check in torch/_export/utils.py
(`_check_input_constraints_for_graph`) compares the number of dimensions, and unflatten still does.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x.sum(1) if x.dim() == 3 else x.sum(0)


def make():
    return Model(), (torch.arange(6.0).view(2, 3),)


def other(*given):
    """The example, but for one argument."""
    pairs, spec = torch.utils._pytree.tree_flatten_with_path(given)
    leaves = [leaf for _, leaf in pairs]
    at = [torch.utils._pytree.keystr(p) for p, _ in pairs].index("[0][0]")
    leaf = leaves[at]
    leaves[at] = torch.stack([leaf, leaf + leaf], -1)
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
    args, _ = other(args, {})
    expected = look(eager(*args), (args,), eager)
    model, args = make()
    ep = torch.export.export(model, args, strict=False)
    candidate = ep.module()
    args = make()[1]
    args, _ = other(args, {})
    try:
        seen = look(candidate(*args), (args,), candidate)
    except Exception as error:
        print(f"ok: module refuses the call: {type(error).__name__}")
        sys.exit(0)
    wrong = [n for n in expected if n in seen and seen[n] != expected[n]]
    for n in wrong[:1]:
        print(f"BUG: module accepts the call, and {n} is {seen[n]} instead of {expected[n]}")
    if not wrong:
        print("ok: module gives what eager gives")
    sys.exit(bool(wrong))

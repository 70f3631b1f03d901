"""Functions ``observe`` that several checks share: they return what is compared, by name."""

from __future__ import annotations

import re
from typing import Any

import torch

from exportdiff.repro.templates.inputs import parts
from exportdiff.repro.templates.stand_ins import FACT, OF_PARTS, VARIANTS


def tensors(tree: Any) -> dict[str, str]:
    """Return the WORD of each LEAF that is a tensor."""
    leaves = [t for t in torch.utils._pytree.tree_leaves(tree) if isinstance(t, torch.Tensor)]
    if OF_PARTS:
        leaves = [part for t in leaves for part in parts(t)]
    return {f"WORD of LEAF {i}": str(FACT(t)) for i, t in enumerate(leaves)}


def leaves(tree: Any) -> dict[str, str]:
    """Return the WORD of each LEAF."""
    leaves = torch.utils._pytree.tree_leaves(tree)
    return {f"WORD of LEAF {i}": str(FACT(t)) for i, t in enumerate(leaves)}


def python_values(tree: Any) -> dict[str, str]:
    """Return each LEAF that is not a tensor."""
    leaves = [t for t in torch.utils._pytree.tree_leaves(tree) if not isinstance(t, torch.Tensor)]
    return {f"WORD of LEAF {i}": str(FACT(t)) for i, t in enumerate(leaves)}


def state(module: Any) -> dict[str, str]:
    """Return the WORD of each parameter and buffer."""
    state = [*module.named_parameters(remove_duplicate=False)]
    state += module.named_buffers(remove_duplicate=False)
    if OF_PARTS:
        state = [(f"{name}, part {i}", p) for name, t in state for i, p in enumerate(parts(t))]
    if VARIANTS:
        # A call's own copy (n@1.w) only counts where n.w is missing.
        state.sort(key=lambda pair: "@" not in pair[0])
        state = [(re.sub(r"@\d+", "", name), t) for name, t in state]
    return {f"WORD of {name}": str(FACT(t)) for name, t in state}


def constants(module: Any) -> dict[str, str]:
    """Return the WORD of each tensor that is a plain attribute, which a path may have made a buffer."""
    modules = module.named_modules(remove_duplicate=False)
    stores = [(name, {**m._buffers, **vars(m)}) for name, m in modules]
    state = [(f"{p}.{n}", t) for p, store in stores for n, t in store.items()]
    state = [(name, t) for name, t in state if isinstance(t, torch.Tensor)]
    return {f"WORD of {name}": str(FACT(t)) for name, t in state}


def everything(out: Any, given: Any, module: Any) -> dict[str, str]:
    """Return the values of outputs, inputs and state."""
    leaves = {"output": torch.utils._pytree.tree_leaves(out), "input": torch.utils._pytree.tree_leaves(given)}
    named = [(f"{kind} {i}", t) for kind in leaves for i, t in enumerate(leaves[kind])]
    if isinstance(module, torch.nn.Module):
        named += module.named_parameters(remove_duplicate=False)
        named += module.named_buffers(remove_duplicate=False)
    if OF_PARTS:
        split = [(n, parts(t) if hasattr(t, "dtype") else [t]) for n, t in named]
        named = [(f"{n}, part {i}", p) for n, tensors in split for i, p in enumerate(tensors)]
    tensors = {n: f"{t.dtype} {list(t.shape)} {t.tolist()}" for n, t in named if hasattr(t, "dtype")}
    return {n: repr(t) for n, t in named} | tensors

"""Transforms of what a runner made of a program."""

from __future__ import annotations

import copy
import io
import re
from typing import TYPE_CHECKING

import torch

from harness.paths.transforms.table import transform

if TYPE_CHECKING:
    from torch import nn


@transform("module", "nonstrict:module", "nonstrict:unflatten", apart=True, cost=35)
def duplicate(module: nn.Module) -> nn.Module:
    """A deep copy of what runs behaves like it, and shares no state with it."""
    return copy.deepcopy(module)


@transform("module", "nonstrict:unflatten", apart=True, cost=35)
def pickle(module: nn.Module) -> nn.Module:
    """What runs can be pickled and unpickled, and shares no state with what comes of it."""
    buffer = io.BytesIO()
    torch.save(module, buffer)
    buffer.seek(0)
    loaded: nn.Module = torch.load(buffer, weights_only=False)
    return loaded


@transform("module", "nonstrict:module", "nonstrict:unflatten", in_eager=True, cost=5)
def retie(module: nn.Module) -> nn.Module:
    """A state dict loaded after export acts through every name and in every call variant."""
    state = {n: t * 0.5 if t.is_floating_point() else t for n, t in module.state_dict().items()}
    once = {n: t for n, t in state.items() if not re.search(r"@\d+", n)}
    module.load_state_dict(once, strict=False)
    return module


@transform("module", "nonstrict+preserve:unflatten", wants_model=True, drops=("hierarchy",), cost=15)
def swap(module: nn.Module, model: nn.Module) -> nn.Module:
    """All children of an unflattened model can be replaced by their eager originals."""
    return _replaced(module, model, [name for name, _ in model.named_children()])


@transform("module", "nonstrict+preserve:unflatten", wants_model=True, drops=("hierarchy",), cost=15)
def swap_leaves(module: nn.Module, model: nn.Module) -> nn.Module:
    """All modules without children of an unflattened model can be replaced by their eager originals."""
    return _replaced(module, model, [name for name, m in model.named_modules() if name and not m._modules])


@transform("module", "nonstrict+preserve:unflatten", wants_model=True, drops=("hierarchy",), cost=15)
def swap_one(module: nn.Module, model: nn.Module) -> nn.Module:
    """One submodule of an unflattened model can be replaced by its eager original."""
    names = [name for name, _ in model.named_modules() if name]
    return _replaced(module, model, names[len(names) // 2 :][:1])


def _replaced(module: nn.Module, model: nn.Module, names: list[str]) -> nn.Module:
    """Put submodules of one model in the place of another's, for all calls; the state stays the other's."""
    state: dict[str, torch.Tensor] = {}
    state |= dict(module.named_parameters(remove_duplicate=False))
    state |= dict(module.named_buffers(remove_duplicate=False))
    plain = {path: re.sub(r"@\d+", "", path) for path, _ in module.named_modules(remove_duplicate=False)}
    for name in names:
        new = model.get_submodule(name)
        for path, owner in new.named_modules(prefix=name):
            for store in (owner._parameters, owner._buffers):
                store.update({n: state[f"{path}.{n}"] for n in store if f"{path}.{n}" in state})
        for path in [path for path, base in plain.items() if base == name]:
            parent, _, last = path.rpartition(".")
            setattr(module.get_submodule(parent), last, new)
    return module

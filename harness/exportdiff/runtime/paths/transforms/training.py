"""Transforms that train a module, or differentiate it twice; eager is treated in the same way."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

from exportdiff.core.lazy import torch
from exportdiff.runtime.paths.transforms.table import transform

if TYPE_CHECKING:
    from torch import nn


@transform(
    "module",
    *("nonstrict:module", "nonstrict:unflatten", "nonstrict+preserve:unflatten", "strict:unflatten"),
    in_eager=True,
    calls_often=True,
    not_promised=("hierarchy", "gradients", "edits", "deviations"),
    cost=80,
)
def trained(module: nn.Module) -> nn.Module:
    """Three steps of SGD with momentum, and three of Adam, train what runs as they train eager."""

    class Trained(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            learned = [p for p in self.module.parameters() if p.requires_grad]
            if not learned:
                return self.module(*args, **kwargs)
            losses, kept = [], []
            for optimizer in (torch.optim.SGD(learned, 0.125, 0.5), torch.optim.Adam(learned, 0.125)):
                for step in range(3):
                    torch.manual_seed(step)  # export drops random numbers that nothing uses
                    other_args, other_kwargs = copy.deepcopy((args, kwargs))
                    loss = _weighed_sum(self.module(*other_args, **other_kwargs))
                    optimizer.zero_grad()
                    if loss.requires_grad:
                        loss.backward()
                        optimizer.step()
                    losses.append(loss.detach())
                kept.append({n: optimizer.state[p] for n, p in _by_name(self.module) if p in optimizer.state})
                optimizer.zero_grad()
            return {"losses": losses, "momentum": kept[0], "adam": kept[1]}

    return Trained()


@transform(
    "module",
    *("nonstrict:module", "nonstrict:unflatten", "nonstrict+functionalize:module"),
    in_eager=True,
    not_promised=("hierarchy", "gradients", "edits", "deviations"),
    cost=30,
)
def differentiated(module: nn.Module) -> nn.Module:
    """The gradients of gradients are those of eager."""

    class Differentiated(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            loss = _weighed_sum(self.module(*args, **kwargs))
            kept = [(b, b.detach().clone()) for b in self.module.buffers() if _is_plain(b)]
            given = enumerate(torch.utils._pytree.tree_leaves((args, kwargs)))
            named = [*_by_name(self.module), *((f"input {i}", t) for i, t in given)]
            tensors = {n: t for n, t in named if isinstance(t, torch.Tensor)}
            leaves = {n: t for n, t in tensors.items() if t.requires_grad and t.is_leaf}
            flow = _flow(loss, leaves, create_graph=True)
            flow = _flow(_weighed_sum(list(flow.values())), leaves, create_graph=False)
            # In eager, a checkpoint runs a batch norm again in the backward pass, which changes its buffers.
            with torch.no_grad():
                for buffer, value in kept:
                    if not torch.equal(buffer, value):
                        buffer.copy_(value)
            return flow

    return Differentiated()


def _flow(loss: Any, leaves: dict[str, Any], *, create_graph: bool) -> dict[str, Any]:
    """Return the gradients of the leaves that have one."""
    if not loss.requires_grad or not leaves:
        return {}
    flow = torch.autograd.grad(loss, [*leaves.values()], create_graph=create_graph, allow_unused=True)
    return {n: g for n, g in zip(leaves, flow, strict=True) if g is not None}


def _weighed_sum(out: Any) -> Any:
    """Return a number that depends on the results, with weights that are not all equal.

    A plain result counts even if it requires no grad: whether it does is compared elsewhere.
    """
    total = torch.zeros(())
    for t in torch.utils._pytree.tree_leaves(out):
        if not isinstance(t, torch.Tensor):
            continue
        if t.requires_grad or (_is_plain(t) and t.is_floating_point()):
            real = torch.view_as_real(t.resolve_conj()) if t.is_complex() else t
            places = torch.arange(real.numel(), device=t.device).remainder(5).sub(1).div(4)
            total = total.to(real) + (real * places.reshape(real.shape).to(real.dtype)).sum()
    return total


def _is_plain(t: Any) -> bool:
    return type(t) is torch.Tensor and t.layout is torch.strided


def _by_name(module: nn.Module) -> list[tuple[str, Any]]:
    """Return the parameters, each once, under the first of its names in the alphabet."""
    names: dict[int, tuple[str, Any]] = {}
    for name, p in module.named_parameters(remove_duplicate=False):
        plain = re.sub(r"@\d+", "", name)  # foo@1.weight: foo.weight in a further call of foo
        names[id(p)] = min((plain, p), names.get(id(p), (plain, p)), key=lambda each: each[0])
    return sorted(names.values(), key=lambda each: each[0])

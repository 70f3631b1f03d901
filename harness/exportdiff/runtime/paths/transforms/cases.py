"""Transforms of the case: eager runs the result, and so does every other path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

from exportdiff.core.lazy import torch
from exportdiff.runtime.paths.transforms.table import transform

if TYPE_CHECKING:
    from torch import nn


@transform("case", "nonstrict:module", "nonstrict:unflatten", cost=90)
def train(model: nn.Module) -> nn.Module:
    """A model in train mode gives the same results, statistics and gradients."""
    return model.train()


@transform("case", "compile:compiled", cost=200)
def graph_break(model: nn.Module) -> nn.Module:
    """Dynamo breaks the graph before a submodule, and the results stay the same."""
    for child in list(model.modules())[1:2]:
        child.register_forward_pre_hook(lambda module, args: torch._dynamo.graph_break())
    return model


@transform("case", "nonstrict:module", "nonstrict:unflatten", sizes=True, cost=120)
def dynamic(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
    """A program exported with every size dynamic is right at other sizes, or refuses them."""
    kwargs = kwargs or {}
    # It knows the names of arguments, and the spec of a registered class.
    shapes: Any = torch.export.ShapesCollection()  # type: ignore[no-untyped-call]  # torch leaves it bare
    for leaf in torch.utils._pytree.tree_leaves((args, kwargs)):
        if _sized(leaf):
            shapes[leaf] = dict.fromkeys(range(leaf.dim()), torch.export.Dim.AUTO)
    spec = shapes.dynamic_shapes(model, args, kwargs)
    probe = _longer(args, kwargs)
    try:
        args, kwargs = _cloned(probe)  # what the model does to its arguments must not show in the probe
        model(*args, **kwargs)
    except Exception:  # it takes no other size
        return spec, []
    return spec, [probe]


def _sized(leaf: object) -> TypeGuard[torch.Tensor]:
    return isinstance(leaf, torch.Tensor) and leaf.layout is torch.strided


def _longer(*given: Any) -> Any:
    """Repeat the last item of the first dimension, in all tensors that are as long as the first one.

    Export fixes the layout of a tensor: the copies have the same layout as the originals, or are left out.
    """
    tensors = [leaf for leaf in torch.utils._pytree.tree_leaves(given) if _sized(leaf) and leaf.dim()]
    copies = {}
    for t in tensors:
        if len(t) == len(tensors[0]) > 1:
            order = sorted(range(t.dim()), key=t.stride().__getitem__, reverse=True)
            longer = torch.cat([t, t[-1:]]).permute(order).contiguous()
            longer = longer.permute([order.index(d) for d in range(t.dim())])
            if t.is_contiguous() == longer.is_contiguous() and 0 not in t.stride():
                copies[id(t)] = longer.detach().requires_grad_(t.requires_grad)
    return _replaced(given, copies)


def _cloned(given: Any) -> Any:
    """Copy each tensor into separate memory."""
    tensors = [leaf for leaf in torch.utils._pytree.tree_leaves(given) if isinstance(leaf, torch.Tensor)]
    return _replaced(given, {id(t): t.detach().clone().requires_grad_(t.requires_grad) for t in tensors})


def _replaced(given: Any, tensors: dict[int, torch.Tensor]) -> Any:
    """Replace tensors by their id."""
    # Of a torch.Size the tree would make a tuple.
    return torch.utils._pytree.tree_map(
        lambda leaf: tensors.get(id(leaf), leaf), given, is_leaf=lambda part: isinstance(part, torch.Size)
    )

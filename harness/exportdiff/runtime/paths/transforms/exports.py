"""Transforms of the export: further arguments of ``torch.export.export``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exportdiff.runtime.paths.transforms.table import transform

if TYPE_CHECKING:
    from torch import nn


@transform("export", "nonstrict:unflatten", "nonstrict+dynamic:unflatten", cost=60)
def preserve(model: nn.Module) -> dict[str, Any]:
    """Every submodule keeps the signature of its calls, under each of its names."""
    names = (name for name, _ in model.named_modules(remove_duplicate=False) if name)
    return {"preserve_module_call_signature": tuple(names)}


@transform("export", "nonstrict:unflatten", cost=60)
def preserve_leaves(model: nn.Module) -> dict[str, Any]:
    """Every submodule without children keeps the signature of its calls, under the first of its names."""
    names = (name for name, module in model.named_modules() if name and not module._modules)
    return {"preserve_module_call_signature": tuple(names)}


# torch.export, ``prefer_deferred_runtime_asserts_over_guards``.
@transform(
    "export",
    *("nonstrict:module", "nonstrict:unflatten", "strict:module", "nonstrict+dynamic:module"),
    narrows=True,
    cost=10,
)
def deferred(model: nn.Module) -> dict[str, Any]:
    """A program may check sizes when it runs: it does as eager does, or refuses the size."""
    return {"prefer_deferred_runtime_asserts_over_guards": True}

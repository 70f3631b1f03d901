"""Transforms of the export: further arguments of ``torch.export.export``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.paths.transforms.table import transform

if TYPE_CHECKING:
    from torch import nn


@transform("export", "nonstrict:unflatten", cost=60)
def preserve(model: nn.Module) -> dict[str, Any]:
    """Every submodule keeps the signature of its calls."""
    return {"preserve_module_call_signature": tuple(name for name, _ in model.named_modules() if name)}

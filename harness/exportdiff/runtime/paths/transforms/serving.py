"""Transforms of ``ep.module()`` that people use to serve a model: less checking, and torch.compile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exportdiff.runtime.paths.transforms.table import transform

if TYPE_CHECKING:
    from torch import nn
    from torch.export import ExportedProgram


# "A subset of these checks are performed" (ExportedProgram.module): those of sizes and Python values. The
# graph is that of ``module()``, where its predictions are compared.
@transform(
    "module",
    *("nonstrict:module", "strict:module"),
    alone=True,
    runner="module",
    not_promised=("predictions",),
    cost=5,
)
def unguarded(program: ExportedProgram) -> nn.Module:
    """``module(check_guards=False)`` computes what eager does, but checks its inputs less."""
    module: nn.Module = program.module(check_guards=False)
    return module


@transform("module", "nonstrict:module", "strict:module", "nonstrict:unflatten", cost=150)
def optimized(module: nn.Module) -> nn.Module:
    """torch.compile of the exported module does not change its results."""
    compiling: Any = module  # torch leaves the method without types
    compiling.compile(backend="eager")
    return module

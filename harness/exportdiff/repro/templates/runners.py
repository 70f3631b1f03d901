"""What is compared with eager, made by more than one call of torch."""

from __future__ import annotations

from typing import Any

import torch

from exportdiff.repro.templates.stand_ins import RANDOM


def packaged(ep: Any) -> Any:
    """Return what AOTInductor compiles from a program, as a module."""
    if RANDOM:
        torch._inductor.config.fallback_random = True  # draw random numbers as eager does
    run = torch._inductor.aoti_load_package(torch._inductor.aoti_compile_and_package(ep))

    class Packaged(torch.nn.Module):
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return run(*args, **kwargs)

    return Packaged()


def compiled(model: Any) -> Any:
    """Compile the calls of the model itself: its state keeps its names."""
    if RANDOM:
        torch._inductor.config.fallback_random = True  # draw random numbers as eager does
    model.compile(backend="BACKEND")
    return model


def compiled_whole(model: Any) -> Any:
    """Compile the calls of the model itself, each to one graph: its state keeps its names."""
    if RANDOM:
        torch._inductor.config.fallback_random = True  # draw random numbers as eager does
    model.compile(backend="BACKEND", fullgraph=True)
    return model

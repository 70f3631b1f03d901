"""PyTorch's own database of modules, with which its tests run each ``nn`` module once.

Importing it changes how torch behaves in the process (it freezes backend flags), so only children do that.
"""

from __future__ import annotations

import difflib
import importlib
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from exportdiff.core.errors import UsageError
from exportdiff.lab.zoo.model import ZooModel

if TYPE_CHECKING:
    from collections.abc import Iterator

MODULE = "torch.testing._internal.common_modules"

DTYPES = {"nn.FractionalMaxPool2d": torch.float64, "nn.FractionalMaxPool3d": torch.float64}
"""The dtype of the samples, where it is not float32: these have random numbers in float64 in any case."""


class Parent(nn.Module):
    """Calls its child: the call signature of a child can be preserved."""

    def __init__(self, child: nn.Module) -> None:
        """``child``: the module of the database."""
        super().__init__()
        self.child = child

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the child."""
        return self.child(*args, **kwargs)


def models() -> Iterator[ZooModel]:
    """Yield two models for each module that has samples on the CPU, with the first sample of each.

    ``NAME`` is the module in eval mode, and ``NAME.train`` is a parent of the module in train mode. A lazy
    module is left out: before its first call there is nothing to export.
    """
    infos = importlib.import_module(MODULE).module_db
    usable = [info for info in infos if not info.is_lazy and _dtype(info) in info.supported_dtypes("cpu")]
    for training in (False, True):
        for info in usable:
            name = f"module_db/{info.name}{'.train' if training else ''}"
            yield ZooModel(name, f"{info.name}, as {MODULE} calls it", partial(_make, info, training))


def sample_named(name: str) -> Any:
    """Return the sample of one module. Raises UsageError if the database has none."""
    infos = importlib.import_module(MODULE).module_db
    for info in infos:
        if info.name == name and not info.is_lazy:
            return _first_sample(info, training=False)
    near = difflib.get_close_matches(name, [info.name for info in infos], 3, 0.4)
    raise UsageError(f"PyTorch's database has no {name}; it has {', '.join(near) or infos[0].name}")


def _make(info: Any, training: bool) -> tuple[nn.Module, tuple[Any, ...], dict[str, Any]]:
    sample = _first_sample(info, training)
    build, call = sample.constructor_input, sample.forward_input
    model: nn.Module = info.module_cls(*build.args, **build.kwargs).train(training)
    return Parent(model) if training else model, tuple(call.args), dict(call.kwargs)


def _dtype(info: Any) -> torch.dtype:
    return DTYPES.get(info.name, torch.float32)


def _first_sample(info: Any, training: bool) -> Any:
    samples = info.module_inputs_func(
        info, device="cpu", dtype=_dtype(info), requires_grad=False, training=training
    )
    return next(sample for sample in samples if sample.forward_input is not None)

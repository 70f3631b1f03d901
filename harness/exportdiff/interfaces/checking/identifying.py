"""Finds out which model a case is about (see core/model_identity.py). Imports no torch."""

from __future__ import annotations

import hashlib
import inspect
import pathlib
import types
from typing import TYPE_CHECKING

from exportdiff.core.model_identity import ModelIdentity

if TYPE_CHECKING:
    import torch
    from torch import nn


def identity(model: nn.Module, factory: object, file: str | None = None, name: str = "") -> ModelIdentity:
    """Return the identity of a model that ``factory`` made.

    ``file`` and ``name`` are where the user found the factory. They count only if it is not a function at the
    top level of a file, which is known by its own file and name.
    """
    own = inspect.unwrap(factory) if callable(factory) else None
    if isinstance(own, types.FunctionType) and "<" not in own.__qualname__:
        file, name = own.__code__.co_filename, own.__qualname__
    known = file is not None and name != ""
    return ModelIdentity(
        str(pathlib.Path(file).resolve()) if known and file is not None else "",
        name if known else "",
        type(model).__qualname__,
        _hash_of_state(model),
    )


def _hash_of_state(model: nn.Module) -> str:
    tensors = [
        *model.named_parameters(remove_duplicate=False),
        *model.named_buffers(remove_duplicate=False),
    ]
    lines = sorted(f"{name} {tensor.dtype} {_shape(tensor)}" for name, tensor in tensors)
    lines += [f"{name} {module.training}" for name, module in model.named_modules()]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:10]


def _shape(tensor: torch.Tensor) -> str:
    from torch.nn.parameter import is_lazy

    return "not initialized" if is_lazy(tensor) else str(tuple(tensor.shape))

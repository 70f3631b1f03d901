"""Reads real inputs from a file, by name or position. What is wrong is reported in one line; nothing of a
file is executed."""

from __future__ import annotations

import importlib
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from exportdiff.core.errors import UsageError

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable, Mapping


def read_inputs(file: pathlib.Path, written: pathlib.Path) -> dict[str, Any]:
    """Return the values by name or position; messages name the file as it was ``written``.

    Raises UsageError.
    """
    try:
        values = _READERS[file.suffix](file)
    except UsageError as error:
        raise UsageError(f"--inputs {written}: {error}") from None
    except Exception as error:
        first = next(iter(str(error).splitlines()), "")
        raise UsageError(f"--inputs {written}: {type(error).__name__}: {first}") from None
    if not values:
        raise UsageError(f"--inputs {written}: it is empty")
    return values


def _of_numpy(file: pathlib.Path) -> dict[str, Any]:
    with np.load(file, allow_pickle=False) as stored:
        if isinstance(stored, np.ndarray):
            raise UsageError("it is one array without a name; write it with numpy.savez(FILE, x=...)")
        return {name: _tensor(name, stored) for name in stored.files}


def _tensor(name: str, stored: Mapping[str, Any]) -> torch.Tensor:
    try:
        return torch.from_numpy(np.array(stored[name]))
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name!r} is no array of numbers ({error})") from None


def _of_safetensors(file: pathlib.Path) -> dict[str, Any]:
    try:
        reader = importlib.import_module("safetensors.torch")
    except ImportError:
        raise UsageError("safetensors is not installed: pip install safetensors") from None
    values: dict[str, Any] = reader.load_file(file)
    return values


def _of_torch(file: pathlib.Path) -> dict[str, Any]:
    try:
        values = torch.load(file, weights_only=True, map_location="cpu")
    except pickle.UnpicklingError:
        raise UsageError(
            "torch.save did not write it, or it holds other objects than tensors, numbers, texts, lists and "
            "dicts"
        ) from None
    if isinstance(values, torch.Tensor):
        values = [values]
    if isinstance(values, list | tuple):
        values = dict(enumerate(values))
    if not isinstance(values, dict):
        raise UsageError(f"it holds a {type(values).__name__}; save a dict of inputs by name")
    return {str(name): value for name, value in values.items()}


_READERS: Mapping[str, Callable[[pathlib.Path], dict[str, Any]]] = {
    ".npz": _of_numpy,
    ".safetensors": _of_safetensors,
    ".pt": _of_torch,
}

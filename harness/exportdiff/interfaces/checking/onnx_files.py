"""Reads .onnx files: whether ONNX Runtime takes them, and which weights they have under which names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from exportdiff.core.errors import UsageError

if TYPE_CHECKING:
    import pathlib


def check_onnx(file: pathlib.Path, written: pathlib.Path) -> None:
    """Raise UsageError if ONNX Runtime does not take the file."""
    import onnxruntime

    try:
        onnxruntime.InferenceSession(file)
    except Exception as error:
        first = next(iter(str(error).splitlines()), "")
        raise UsageError(f"--program {written}: ONNX Runtime does not load it: {first}") from None


def weights_of_onnx(file: pathlib.Path) -> dict[str, torch.Tensor]:
    """Return the weights by name."""
    import onnx
    from onnx import numpy_helper

    loaded = onnx.load(file)
    return {
        each.name: torch.from_numpy(numpy_helper.to_array(each).copy()) for each in loaded.graph.initializer
    }

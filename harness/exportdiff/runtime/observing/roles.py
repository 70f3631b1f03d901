"""Finds out whether an output of a call is also an input or a tensor of the state, or lives in its memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch
from torch import nn

from exportdiff.runtime.observing.parts import plain_parts
from exportdiff.runtime.observing.tensors import memory_of, named_constants, named_state, storage_id

if TYPE_CHECKING:
    from collections.abc import Iterable

Role = Literal["input", "buffer", "param", "constant"]


class Roles:
    """Finds out whether an output is also an input or a buffer, or a view of one."""

    def __init__(self, model: nn.Module, inputs: Iterable[object]) -> None:
        """Remember the tensors that an output could be; ``inputs`` are the flattened arguments."""
        self._objects: dict[int, str] = {}
        self._storages: dict[int, str] = {}
        self._seen: dict[int, torch.Tensor] = {}
        self._kept: list[object] = []
        """Keeps alive what a call may release (``set_``, a new buffer): no output must get its address."""
        for leaf in inputs:
            if isinstance(leaf, torch.Tensor):
                self._add(leaf, "input")
        for _, tensor in named_constants(model):
            self._add(tensor, "constant")
        for _, tensor in named_state(model):
            self._add(tensor, "param" if isinstance(tensor, nn.Parameter) else "buffer")

    def _add(self, tensor: torch.Tensor, role: Role) -> None:
        self._objects.setdefault(id(tensor), role)
        self._storages.setdefault(storage_id(tensor), role)
        self._kept.append((tensor, [memory_of(part) for part in plain_parts(tensor)]))

    def __call__(self, output: torch.Tensor) -> str:
        """Return ``output-is-input``, ``output-views-buffer``, ``output-repeats``, ``fresh``, …."""
        if id(output) in self._objects:
            return f"output-is-{self._objects[id(output)]}"
        if (storage := storage_id(output)) in self._storages:
            return f"output-views-{self._storages[storage]}"
        if storage in self._seen:
            return "output-repeats" if self._seen[storage] is output else "output-shares"
        self._seen[storage] = output
        return "fresh"

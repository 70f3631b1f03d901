"""Describes what a call exports, so that equal calls are judged once."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.utils import _pytree as pytree

from exportdiff.interfaces.checking.identifying import identity
from exportdiff.interfaces.suites.judged_call import Subject

if TYPE_CHECKING:
    from exportdiff.interfaces.suites.apis import Call
    from exportdiff.interfaces.suites.judged_call import Place

SHOWN = 120
"""The characters of a description of inputs."""


def subject_of(call: Call, place: Place) -> Subject:
    """Describe the model and the inputs of a call."""
    if isinstance(call.model, nn.Module):
        found = identity(call.model, call.model)
        model, state = found.class_name, found.state
    else:
        model, state = type(call.model).__qualname__, ""
    inputs = ", ".join(map(_described, pytree.tree_leaves((call.args, call.kwargs or {}))))
    parts = (
        place.api,
        place.file,
        str(place.line),
        model,
        state,
        inputs,
        str(pytree.tree_structure((call.args, call.kwargs or {}))),
        str(call.dynamic_shapes),
        *call.paths,
    )
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    return Subject(key, model, inputs if len(inputs) <= SHOWN else f"{inputs[:SHOWN]}…")


def _described(leaf: object) -> str:
    if isinstance(leaf, torch.Tensor):
        kind = "" if type(leaf) is torch.Tensor else f"{type(leaf).__name__} "
        dtype = str(leaf.dtype).removeprefix("torch.")
        return f"{kind}{dtype}[{', '.join(map(str, leaf.shape))}]"
    if leaf is None or isinstance(leaf, bool | int | float | str):
        return repr(leaf)
    return type(leaf).__name__

"""Editing a model's state between two calls, through the names that alias others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from harness.observe.tensors import live_state, snapshot

if TYPE_CHECKING:
    from torch import nn

    from harness.observe.tensors import State, TensorSnapshot

FACTOR = 0.5
"""What each tensor is multiplied by: exact in binary, and keeps values tame."""

EditPlan = tuple[frozenset[str], ...]
"""For each tensor to edit, all its names in eager."""


def plan_edits(state: State) -> EditPlan:
    """Choose the tensors to edit: of floating point, each in a memory of its own."""
    together = {name: group for group in state.same for name in group}
    known = frozenset(state.tensors)
    groups = {together.get(name, frozenset((name,))) & known for name in known}
    views = {name for group in state.shared if group not in state.same for name in group}
    chosen = (g for g in groups if not g & views and _editable(state.tensors[min(g)]))
    return tuple(sorted(chosen, key=sorted))


def _editable(tensor: TensorSnapshot) -> bool:
    places = zip(tensor.shape, tensor.stride, strict=False)
    overlaps = any(size != 1 and stride == 0 for size, stride in places)
    return tensor.dtype.startswith(("float", "bfloat")) and tensor.values is not None and not overlaps


def edit(module: nn.Module, plan: EditPlan) -> None:
    """Halve each tensor of the plan once, in place, through the last of its names that the module has.

    Where sharing is intact, all other names and the graph follow. What a call has made of a tensor that
    was planned for may no longer be one to edit: then it stays.
    """
    state, _ = live_state(module)
    with torch.no_grad():
        for names in plan:
            present = names & state.keys()
            if present and _editable(snapshot(state[max(present)])):
                state[max(present)].detach().mul_(FACTOR)

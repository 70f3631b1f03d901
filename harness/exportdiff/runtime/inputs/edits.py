"""Edits the state of a model between two calls, to see whether aliased names still share their tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from exportdiff.runtime.observing.tensors import live_state, snapshot

if TYPE_CHECKING:
    from torch import nn

    from exportdiff.runtime.observing.tensors import State, TensorSnapshot

FACTOR = 0.5
"""The factor for each tensor: exact in binary, and keeps values small."""

_HALVED = ("bfloat16", "float16", "float32", "float64")
"""The dtypes of the tensors that are edited; eager cannot multiply those of eight bits."""

EditPlan = tuple[frozenset[str], ...]
"""For each tensor to edit, all its names in eager."""


def plan_edits(state: State) -> EditPlan:
    """Choose the tensors to edit: floating point tensors that share memory with no other tensor."""
    together = {name: group for group in state.same for name in group}
    known = frozenset(state.tensors)
    groups = {together.get(name, frozenset((name,))) & known for name in known}
    views = {name for group in state.shared if group not in state.same for name in group}
    chosen = (g for g in groups if not g & views and _editable(state.tensors[min(g)]))
    return tuple(sorted(chosen, key=sorted))


def _editable(tensor: TensorSnapshot) -> bool:
    dimensions = zip(tensor.shape, tensor.stride, strict=False)
    overlaps = any(size != 1 and stride == 0 for size, stride in dimensions)
    return tensor.dtype in _HALVED and tensor.values is not None and not overlaps


def edit(module: nn.Module, plan: EditPlan) -> None:
    """Halve each tensor of the plan once, in place, under the last of its names that the module has.

    If the names still share the tensor, the edit shows under the others and in the graph. If a call has
    replaced a tensor by one that cannot be edited, nothing is done.
    """
    state, _ = live_state(module)
    with torch.no_grad():
        for names in plan:
            present = names & state.keys()
            if present and _editable(snapshot(state[max(present)])):
                state[max(present)].detach().mul_(FACTOR)

"""Which tensors of a call are the same object, and which share memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch

from exportdiff.runtime.observing.failure import Failure, failure
from exportdiff.runtime.observing.tensors import (
    TensorSnapshot,
    argument,
    flatten,
    live_state,
    named_constants,
    partition,
    snapshot,
    storage_id,
)
from exportdiff.runtime.observing.values import identical

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import nn

    from exportdiff.runtime.observing.arguments import Inputs

OUTPUT, INPUT = "output", "input "
"""How the names of outputs (``output[0]``) and inputs (``input args[0]``) begin; state has its FQN."""


@dataclass(frozen=True)
class Memory:
    """After one call: the groups of names that an output belongs to."""

    same: tuple[frozenset[str], ...] = ()
    """Names of one tensor object."""
    shared: tuple[frozenset[str], ...] = ()
    """Names of tensors in one storage."""


NO_MEMORY = Memory()


@dataclass(frozen=True)
class MutationProbe:
    """A write to an output, after the last call: which other tensors change with it."""

    output: str
    shows: Mapping[str, TensorSnapshot] = field(default_factory=dict)
    """The other tensors that changed, as they are after the write."""
    refused: bool = False
    """Whether the output cannot be written to: some of its elements are one place in memory."""
    barred: Failure | None = None
    """Why autograd does not allow ``output.add_(1)``, of an output that requires grad."""
    tracked: bool = False
    """Whether autograd saw the write."""


def named_tensors(outputs: object, inputs: Inputs, model: nn.Module) -> dict[str, torch.Tensor]:
    """Return the outputs, the inputs and the state of a call, by name."""
    leaves, places, _ = flatten(outputs)
    named = {
        f"{OUTPUT}{place}": leaf
        for leaf, place in zip(leaves, places, strict=True)
        if isinstance(leaf, torch.Tensor)
    }
    for leaf, place in zip(inputs.leaves, inputs.places, strict=True):
        if isinstance(leaf, torch.Tensor):
            named[f"{INPUT}{argument(place)}"] = leaf
    state, _ = live_state(model)
    return {**named, **dict(named_constants(model)), **state}


def memory(named: Mapping[str, torch.Tensor]) -> Memory:
    """Group the tensors of a call by object and by storage; groups without an output are left out."""
    return Memory(_with_output(partition(named, id)), _with_output(partition(named, storage_id)))


def _with_output(groups: tuple[frozenset[str], ...]) -> tuple[frozenset[str], ...]:
    return tuple(group for group in groups if any(name.startswith(OUTPUT) for name in group))


def mutation_probes(named: Mapping[str, torch.Tensor]) -> tuple[MutationProbe, ...]:
    """Write to each output in turn, and note which other tensors change. Changes the tensors."""
    found: list[MutationProbe] = []
    before = _snapshots(named)
    for name, tensor in named.items():
        if name.startswith(OUTPUT) and before[name].has_values:
            tracked, barred = _written_by_user(tensor)
            if not tracked and not write_to(tensor):
                found.append(MutationProbe(name, refused=True, barred=barred))
                continue
            after = _snapshots(named)
            shows = {n: seen for n, seen in after.items() if n != name and _differs(before[n], seen)}
            found.append(MutationProbe(name, shows, barred=barred, tracked=tracked))
            before = after
    return tuple(found)


def _written_by_user(tensor: torch.Tensor) -> tuple[bool, Failure | None]:
    """Write to a tensor as users do, so that autograd checks it; return whether it did, or why it refused."""
    if not tensor.requires_grad:
        return False, None
    try:
        with torch.enable_grad():
            tensor.add_(1)
    except Exception as error:
        return False, failure(error, "run")
    return True, None


def _snapshots(named: Mapping[str, torch.Tensor]) -> dict[str, TensorSnapshot]:
    return {name: snapshot(tensor) for name, tensor in named.items()}


def write_to(tensor: torch.Tensor) -> bool:
    """Change every value of a tensor in place; return whether it can be written to."""
    try:
        target = tensor.detach()
        target.logical_not_() if target.dtype is torch.bool else target.add_(1)
    except Exception:  # a subclass raises whatever its operators raise
        return False
    return True


def _differs(one: TensorSnapshot, other: TensorSnapshot) -> bool:
    if one.composed is not None and other.composed is not None:
        ours, theirs = one.composed.parts, other.composed.parts
        return any(_differs(part, theirs[name]) for name, part in ours.items() if name in theirs)
    if one.values is None or other.values is None:
        return False
    return not identical(one.values, other.values)

"""The arguments of one call: as Python takes them, as leaves, and as a snapshot."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.utils import _pytree as pytree

from exportdiff.runtime.observing.tensors import Leaf, Tree, flatten, leaf_snapshot, tree_snapshot


class Inputs:
    """The arguments of one call, with the leaves of ``(args, kwargs)`` in order and their places."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note the leaves."""
        self.args = args
        self.kwargs = kwargs
        self.leaves, self.places, self._structure = flatten((args, kwargs))

    @classmethod
    def rebuilt(cls, leaves: list[object], spec: pytree.TreeSpec) -> Inputs:
        """Put leaves together."""
        return cls(*_sizes_again(pytree.tree_unflatten(leaves, spec), spec))

    def with_leaves(self, leaves: list[object]) -> Inputs:
        """Return arguments with other leaves in the same places."""
        return Inputs.rebuilt(leaves, self._structure)

    def snapshot(self) -> Tree:
        """Copy what the leaves hold now, those that were handed in."""
        return Tree(
            str(self._structure),
            tuple(
                Leaf(place, leaf_snapshot(leaf)) for place, leaf in zip(self.places, self.leaves, strict=True)
            ),
        )

    def refilled(self) -> Tree | None:
        """Copy the arguments if their lists and dicts hold others than were handed in; else return None."""
        leaves, structure = pytree.tree_flatten((self.args, self.kwargs))
        if structure == self._structure and all(map(operator.is_, leaves, self.leaves)):
            return None
        return tree_snapshot((self.args, self.kwargs))


def _sizes_again(value: Any, spec: pytree.TreeSpec) -> Any:
    """Return a torch.Size again: torch rebuilds it as a plain tuple."""
    if spec.type is torch.Size:
        # A deviating call may have put something else in it.
        return torch.Size(value) if all(isinstance(item, int) for item in value) else value
    if spec.type in (tuple, list):
        return spec.type(_sizes_again(*pair) for pair in zip(value, children(spec), strict=True))
    if spec.type is dict:
        parts = zip(value.items(), children(spec), strict=True)
        return {key: _sizes_again(item, part) for (key, item), part in parts}
    return value


def children(spec: pytree.TreeSpec) -> list[pytree.TreeSpec]:
    """Return the specs of the children of a pytree's root."""
    # Older versions of torch have the attribute alone, newer ones warn of it.
    return spec.children() if hasattr(spec, "children") else spec.children_specs

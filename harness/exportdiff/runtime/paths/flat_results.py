"""For files of backends, which return flat lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

if TYPE_CHECKING:
    from collections.abc import Sequence


def in_containers(outputs: Sequence[Any], result: object) -> object:
    """Put the outputs of a file into the containers of eager's result for the example.

    A file may have all leaves, or only the tensors. Numbers of eager that the file returns as tensors become
    numbers. If there are more or fewer, return the list: that is a difference.
    """
    leaves, structure = pytree.tree_flatten(result)
    tensors = sum(isinstance(leaf, torch.Tensor) for leaf in leaves)
    if len(outputs) not in (tensors, len(leaves)):
        return list(outputs)
    rest, every = iter(outputs), len(outputs) == len(leaves)
    filled = [next(rest) if every or isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    return pytree.tree_unflatten(
        [
            each.item() if isinstance(each, torch.Tensor) and isinstance(leaf, int | float) else each
            for leaf, each in zip(leaves, filled, strict=True)
        ],
        structure,
    )

"""What a spec of dynamic shapes promises."""

from __future__ import annotations

from torch.utils import _pytree as pytree


def may_narrow(spec: object) -> bool:
    """Whether export may restrict the program to fewer sizes than the spec allows.

    It may if the spec holds ``Dim.AUTO`` or ``Dim.DYNAMIC`` (torch/export/dynamic_shapes.py: "with the
    compiler inferring the remaining constraints"). A named Dim promises its whole range: export has to
    refuse the model instead.
    """
    return any("_DimHint" in type(leaf).__name__ for leaf in pytree.tree_leaves(spec))

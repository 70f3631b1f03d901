"""Writing down a call that deviates from the example in one respect (runtime/inputs/deviations.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from exportdiff.repro.parts import Deviating, ScriptParts
from exportdiff.repro.paste import Template, names_in
from exportdiff.repro.templates.stand_ins import ALTERED, IS_LEAF, OF_LEAF, PLACE
from exportdiff.runtime.inputs.deviations import DEVIATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exportdiff.judging.checks.compare.deviating import Altered
    from exportdiff.repro.paste import Values


def other(*given: Any) -> Any:
    """Return the example with another leaf in one place."""
    pairs, spec = torch.utils._pytree.tree_flatten_with_path(given, IS_LEAF)
    leaves = [leaf for _, leaf in pairs]
    at = [torch.utils._pytree.keystr(p) for p, _ in pairs].index(PLACE)
    if OF_LEAF:
        leaf = leaves[at]  # noqa: F841 - what stands for ALTERED names it
    leaves[at] = ALTERED
    return torch.utils._pytree.tree_unflatten(leaves, spec)


def deviating_parts(
    altered: Altered, functions: Sequence[Template], script: Sequence[Template]
) -> ScriptParts:
    """Return parts in which the calls in ``with altered(...)`` deviate from the example."""
    kind = DEVIATIONS[altered.deviation]
    if kind.around:
        return ScriptParts([*functions], [*script], deviating=Deviating(around=kind.around))
    if kind.first:
        return ScriptParts([*functions], [*script], deviating=Deviating(first=kind.first))
    if kind.of_model:
        attribute = altered.where.removeprefix("model.")
        return ScriptParts(
            [*functions], [*script], deviating=Deviating(attribute=attribute, value=altered.value)
        )
    values: Values = {
        "PLACE": repr(_place(altered.where)),
        "ALTERED": kind.expression,
        "IS_LEAF": "lambda each: type(each) is dict" if kind.of_dicts else "None",
        "OF_LEAF": "leaf" in names_in(kind.expression),
    }
    return ScriptParts([Template(other, values), *functions], [*script])


def _place(where: str) -> str:
    """Return where an argument is in ``(args, kwargs)``: ``[0][1]`` for ``args[1]``."""
    number, name = (1, "kwargs") if where.startswith("kwargs") else (0, "args")
    return f"[{number}]{where.removeprefix(name)}"

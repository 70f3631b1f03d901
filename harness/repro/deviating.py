"""Writing down a call that deviates from the example in one respect (harness/inputs/deviations.py)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import torch

from harness.inputs.deviations import DEVIATIONS
from harness.repro.facts import deviation_attribute, deviation_place
from harness.repro.parts import Deviating, Parts
from harness.repro.paste import Template
from harness.repro.templates.stand_ins import ALTERED, OF_LEAF, PLACE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.findings import Finding


def other(*given: Any) -> Any:
    """Return the example with another leaf in one place."""
    pairs, spec = torch.utils._pytree.tree_flatten_with_path(given)
    leaves = [leaf for _, leaf in pairs]
    at = [torch.utils._pytree.keystr(p) for p, _ in pairs].index(PLACE)
    if OF_LEAF:
        leaf = leaves[at]
    leaves[at] = ALTERED
    return torch.utils._pytree.tree_unflatten(leaves, spec)


def deviating_parts(
    finding: Finding, deviation: str, functions: Sequence[Template], script: Sequence[Template]
) -> Parts:
    """Return parts in which the calls in ``with altered(...)`` deviate as the finding says."""
    kind = DEVIATIONS[deviation]
    if kind.around:
        return Parts([*functions], [*script], deviating=Deviating(around=kind.around))
    if kind.of_model:
        attribute, value = deviation_attribute(finding)
        return Parts([*functions], [*script], deviating=Deviating(attribute=attribute, value=value))
    values = {
        "PLACE": repr(deviation_place(finding)),
        "ALTERED": kind.expression,
        "OF_LEAF": re.search(r"\bleaf\b", kind.expression) is not None,
    }
    return Parts([Template(other, values), *functions], [*script])

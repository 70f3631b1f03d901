"""How to show findings of the outputs check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from harness.repro.facts import differing, error, last_call, words
from harness.repro.observing import observing_leaves
from harness.repro.parts import Parts
from harness.repro.paste import Template
from harness.repro.templates.scripts import compare, consecutive_calls, first_call
from harness.repro.writers.aliasing import identity
from harness.repro.writers.crashes import crash

if TYPE_CHECKING:
    from harness.findings import Finding


def structure(out: Any) -> dict[str, str]:
    """Return how the outputs are nested."""
    return {"output structure": str(torch.utils._pytree.tree_flatten(out)[1])}


def write(finding: Finding) -> Parts | None:
    """Write down exceptions, and differences of the leaves of outputs and of their nest."""
    if finding.kind == "crash":
        return crash(finding, error(finding))
    if words(finding)[0] == "identity":
        return identity(finding, lost="new" not in words(finding))
    if words(finding)[0] == "structure":
        observe = Template(structure, name="observe")
    else:
        observe = observing_leaves(differing(finding), "output")
    calls = consecutive_calls if finding.call else first_call
    return Parts([observe], [Template(calls), Template(compare)], call=last_call(finding), observes=("out",))

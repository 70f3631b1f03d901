"""How to show findings of the inputs check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from exportdiff.judging.checks.inputs import InputLeaf, InputStructure
from exportdiff.repro.observe_functions import observing_leaves
from exportdiff.repro.parts import ScriptParts, last_call
from exportdiff.repro.paste import Template
from exportdiff.repro.templates.scripts import compare, consecutive_calls, first_call

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding


def structure(given: Any) -> dict[str, str]:
    """Return how the arguments are nested."""
    return {"structure of the arguments": str(torch.utils._pytree.tree_flatten(given)[1])}


def observing_inputs(evidence: InputLeaf | InputStructure) -> Template:
    """Return the function that observes what differs."""
    if isinstance(evidence, InputLeaf):
        return observing_leaves(evidence.leaf.word, "input")
    return Template(structure, name="observe")


def write(finding: Finding) -> ScriptParts | None:
    """Write down what a call changes in its arguments."""
    if not isinstance(finding.evidence, InputLeaf | InputStructure):
        return None
    observe = observing_inputs(finding.evidence)
    calls = Template(consecutive_calls if finding.call else first_call)
    return ScriptParts([observe], [calls, Template(compare)], call=last_call(finding), observes=("given",))

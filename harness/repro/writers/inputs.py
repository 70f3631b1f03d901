"""How to show findings of the inputs check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.checks.inputs import InputLeaf
from harness.repro.observing import observing_leaves
from harness.repro.parts import Parts, last_call
from harness.repro.paste import Template
from harness.repro.templates.scripts import compare, consecutive_calls, first_call

if TYPE_CHECKING:
    from harness.findings import Finding


def write(finding: Finding) -> Parts | None:
    """Write down what a call changes in its arguments."""
    if not isinstance(finding.evidence, InputLeaf):
        return None
    observe = observing_leaves(finding.evidence.leaf.word, "input")
    calls = Template(consecutive_calls if finding.call else first_call)
    return Parts([observe], [calls, Template(compare)], call=last_call(finding), observes=("given",))

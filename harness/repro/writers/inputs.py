"""How to show findings of the inputs check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.repro.facts import differing, last_call
from harness.repro.observing import observing_leaves
from harness.repro.parts import Parts
from harness.repro.paste import Template
from harness.repro.templates.scripts import compare, consecutive_calls, first_call

if TYPE_CHECKING:
    from harness.findings import Finding


def write(finding: Finding) -> Parts | None:
    """Write down what a call makes of its arguments."""
    observe = observing_leaves(differing(finding), "input")
    calls = consecutive_calls if finding.call else first_call
    return Parts(
        [observe], [Template(calls), Template(compare)], call=last_call(finding), observes=("given",)
    )

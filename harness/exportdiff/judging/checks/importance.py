"""Sorts findings by how much they matter to a user of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.judging.checks import OF_CALLS

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding


def harmlessness(finding: Finding) -> int:
    """Return how harmless a finding is: 0 is the worst.

    0: a call silently does something else. 1: the process ends or hangs. 2: a path breaks another promise.
    3: an exception says that something is wrong.
    """
    if finding.kind == "mismatch":
        return 0 if finding.check in OF_CALLS else 2
    return 3 if finding.kind == "crash" else 1

"""Root causes of the findings of a program, by the entries of the corpus that stand for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.known.attribution.attribute import explain
from exportdiff.known.attribution.knowledge import knowledge

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Collection

    from exportdiff.core.case import Case
    from exportdiff.judging.results import Verdict
    from exportdiff.known.corpus.severity import Severity


def roots_of(
    case: Case, verdict: Verdict, tags: Collection[str], corpora: pathlib.Path
) -> dict[str, frozenset[str]]:
    """Return the names of the root causes of each finding that the corpus explains, by fingerprint."""
    roots: dict[str, frozenset[str]] = {}
    for part in explain(case, verdict, tags, knowledge(corpora)):
        names = frozenset(cause.root for cause in part.causes)
        if names:
            shown = part.finding.fingerprint
            roots[shown] = roots.get(shown, frozenset()) | names
    return roots


def all_roots(corpora: pathlib.Path) -> dict[str, Severity | None]:
    """Return every root cause that a campaign can find, with its severity.

    These are the root causes of the open entries that the checks detect.
    """
    entries = [
        each for each in knowledge(corpora).entries if not each.undetected_because and not each.problem
    ]
    severities = {entry.root: entry.severity for entry in entries if not entry.variant_of}
    return {entry.root: severities.get(entry.root) for entry in entries}

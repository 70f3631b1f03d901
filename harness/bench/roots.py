"""Root causes: the fixes that mend the findings of a program. Many entries of the corpus may have one fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.known.attribution import explain, knowledge

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Collection

    from harness.case import Case
    from harness.judge.results import Verdict


def roots_of(
    case: Case, verdict: Verdict, tags: Collection[str], corpora: pathlib.Path
) -> dict[str, frozenset[str]]:
    """Return the root causes of each finding that the corpus explains, by fingerprint.

    A root cause is the name of a fix; an entry without a fix is a root cause of its own.
    """
    roots: dict[str, frozenset[str]] = {}
    for part in explain(case, verdict, tags, knowledge(corpora)):
        names = frozenset(cause.name for cause in part.causes)
        if names:
            shown = part.finding.fingerprint
            roots[shown] = roots.get(shown, frozenset()) | names
    return roots


def all_roots(corpora: pathlib.Path) -> frozenset[str]:
    """Return every root cause that a campaign can find: those of open entries that the checks detect."""
    return frozenset(
        entry.fix or entry.file.stem
        for entry in knowledge(corpora).entries
        if not entry.undetected_because and not entry.problem
    )

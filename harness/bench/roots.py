"""Root causes: the fixes that mend the findings of a program. Many entries of the corpus may have one fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.known.attribution import explain, knowledge

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Collection, Sequence

    from harness.case import Case
    from harness.findings import Finding


def roots_of(
    case: Case, findings: Sequence[Finding], tags: Collection[str], corpora: pathlib.Path
) -> dict[str, frozenset[str]]:
    """Return the root causes of each finding that the corpus explains, by fingerprint.

    A root cause is the name of a fix; an entry without a fix is a root cause of its own.
    """
    known = knowledge(corpora)
    fix_of = {entry.file.stem: entry.fix or entry.file.stem for entry in known.entries}
    explained = explain(case, findings, tags, known)
    return {
        fingerprint: frozenset(fix_of.get(name, name) for name in names)
        for fingerprint, names in explained.items()
    }


def all_roots(corpora: pathlib.Path) -> frozenset[str]:
    """Return every root cause that a campaign can find: those of open entries that the checks detect."""
    return frozenset(
        entry.fix or entry.file.stem
        for entry in knowledge(corpora).entries
        if not entry.undetected_because and not entry.problem
    )

"""Find out which bugs of the corpus explain a finding, before the finding is reported.

From outside, two silent wrong values look alike. So a finding belongs to an entry with a candidate fix if and
only if it is gone with the fix in place, however it shows. To an entry without one it belongs if it shows as
that entry does (mode, runner, signature), on a program that has the tags of its trigger.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING

from harness.judge.judge_case import judge_case
from harness.known.entry import FIXES, find_files, read_entry
from harness.known.likeness import Likeness
from harness.patching.fixes import FixError, applied, read_fixes
from harness.path import Path
from harness.paths import parse

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from harness.case import Case
    from harness.findings import Finding
    from harness.judge.verdict import Verdict
    from harness.known.entry import Entry
    from harness.patching.fixes import Fix


@dataclass(frozen=True)
class Knowledge:
    """The open bugs of a corpus, and the fixes that fit this torch."""

    entries: tuple[Entry, ...]
    fixes: Mapping[str, Fix]

    @cached_property
    def likeness(self) -> Likeness:
        """Compares programs with those of the entries."""
        return Likeness([entry.file.read_text() for entry in self.entries])


@cache
def knowledge(corpora: pathlib.Path) -> Knowledge:
    """Read a corpus; each process does so once. A fix that does not fit this torch is left out."""
    entries = tuple(entry for entry in map(read_entry, find_files([corpora])) if entry.status == "open")
    return Knowledge(entries, dict(_fitting(read_fixes(corpora / FIXES))))


def _fitting(fixes: Mapping[str, Fix]) -> Iterator[tuple[str, Fix]]:
    try:
        # As a rule all do, and then it is enough to find that out once.
        with applied(fixes.values()):
            yield from fixes.items()
        return
    except FixError:
        pass
    for name, fix in fixes.items():
        try:
            with applied([fix]):
                yield name, fix
        except FixError:
            continue


def explain(
    case: Case,
    findings: Sequence[Finding],
    features: Collection[str],
    known: Knowledge,
    judge: Callable[[Case, Sequence[Path]], Verdict] = judge_case,
) -> dict[str, tuple[str, ...]]:
    """Say which entries explain each finding: by its fingerprint, the names of their files, sorted.

    A finding that nothing explains is left out: it is new. Where a fix belongs to several entries, those that
    show as the finding does are named; if none does, all of them. Judges the case again, a few times.
    """
    if not findings:
        return {}
    suspects = _by_likeness(case, known)
    trial = _Trial(case, tuple(findings), known, judge)
    answer: dict[str, tuple[str, ...]] = {}
    for finding in findings:
        names = frozenset(_culprits(trial, finding, _likely_first(finding, suspects, known)))
        if names:
            owners = [entry for entry in known.entries if entry.fix in names]
        else:
            owners = [entry for entry in known.entries if _triggered(entry, finding, features)]
        alike = [entry for entry in owners if _shows_as(entry, finding)]
        if owners:
            answer[finding.fingerprint] = tuple(sorted(entry.file.stem for entry in alike or owners))
        elif names:
            # A fix that no entry names is no excuse to report what it explains.
            answer[finding.fingerprint] = tuple(sorted(names))
    return answer


BLOCKS = 12
"""The fixes are split into so many parts if all of them together do not mend a finding."""


def _culprits(trial: _Trial, finding: Finding, names: Sequence[str]) -> Iterator[str]:
    """Find few fixes that mend a finding together: none, one, or several if two bugs have one signature.

    All fixes together may cause a finding of the same signature; a part of the fixes need not.
    """
    size = -(-len(names) // BLOCKS)
    blocks = (names[start : start + size] for start in range(0, len(names), size or 1))
    for some in (names[:1], names, *blocks):
        if finding in trial.gone(frozenset(some)):
            yield from _needed(trial, finding, some)
            return


def _needed(trial: _Trial, finding: Finding, names: Sequence[str]) -> Iterator[str]:
    """Find the necessary ones among fixes that mend a finding together."""
    needed: set[str] = set()
    while finding not in trial.gone(frozenset(needed)):
        # The smallest number of them, in their order, that do: the last of these is needed. Mostly few do.
        low, high = 0, len(names)
        while low < high:
            middle = min(2 * low, (low + high) // 2) if low else min(1, high - 1)
            if finding in trial.gone(frozenset(names[:middle]) | needed):
                high = middle
            else:
                low = middle + 1
        if low == 0:
            return
        last = names[low - 1]
        needed.add(last)
        yield last
        names = names[: low - 1]


def _likely_first(finding: Finding, entries: Sequence[Entry], known: Knowledge) -> list[str]:
    """Return the names of all fixes: first those of entries that show as the finding does, then in order."""
    ordered = sorted(
        (entry for entry in entries if entry.fix in known.fixes),
        key=lambda entry: (
            not _shows_as(entry, finding),
            parse(entry.path).transforms != finding.transforms,
        ),
    )
    return list(dict.fromkeys([*(entry.fix for entry in ordered), *known.fixes]))


def _by_likeness(case: Case, known: Knowledge) -> list[Entry]:
    scores = dict(zip(known.entries, known.likeness.of(case.source), strict=True))
    return sorted(known.entries, key=lambda entry: -scores[entry])


def _triggered(entry: Entry, finding: Finding, features: Collection[str]) -> bool:
    if entry.fix:
        return False
    if not entry.trigger:
        return entry.fingerprint == finding.fingerprint
    return set(entry.trigger) <= set(features) and _shows_as(entry, finding)


def _shows_as(entry: Entry, finding: Finding) -> bool:
    """Whether mode and signature agree. The runner may differ: the corpus names one path of several."""
    return parse(entry.path).mode == finding.mode and any(map(finding.matches, entry.signatures))


@dataclass
class _Trial:
    """Judges a case with fixes in place, and remembers which findings were gone."""

    case: Case
    findings: tuple[Finding, ...]
    known: Knowledge
    judge: Callable[[Case, Sequence[Path]], Verdict]
    _seen: dict[frozenset[str], frozenset[Finding]] = field(default_factory=dict)

    def gone(self, names: frozenset[str]) -> frozenset[Finding]:
        """Return the findings that do not show with these fixes."""
        if not names:
            return frozenset()
        if names not in self._seen:
            routes = tuple(dict.fromkeys(finding.path for finding in self.findings))
            with applied([self.known.fixes[name] for name in names]):
                left = self.judge(self.case, routes).findings
            # A finding stands for all paths that show it, and may now be on another one of these. But on
            # other paths it is another finding, which a mended one hid before.
            self._seen[names] = frozenset(
                each
                for each in self.findings
                if not any(one.signature == each.signature and _share_a_path(one, each) for one in left)
            )
        return self._seen[names]


def _share_a_path(one: Finding, other: Finding) -> bool:
    return not set(one.shown_on).isdisjoint(other.shown_on)

"""Which program shows each root cause first: attribution for the rediscovery curve, which needs no more.

Most programs show root causes that programs before them have shown. One judgement shows this: with their
fixes installed, the findings are gone. Only the findings that remain are attributed, which takes ten more
judgements.

A program in which a new root cause hides behind a known one counts for the known one alone. So the curve
may count fewer root causes than with every program attributed, never more.

When the command is interrupted, what is attributed is kept: the programs before the first that is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from exportdiff.core.case import case_from_source, sources_forgotten
from exportdiff.judging.exemptions.refusal import fix_refusals
from exportdiff.judging.judge_case import judge_case
from exportdiff.judging.results import Verdict
from exportdiff.known.attribution.explained import on_paths
from exportdiff.known.attribution.knowledge import knowledge
from exportdiff.lab.bench.roots import roots_of
from exportdiff.lab.bench.threads import in_threads
from exportdiff.runtime.patching.fixes import FixError
from exportdiff.runtime.patching.installed import only_these_fixes
from exportdiff.runtime.processes.child import Death, TaskFailure
from exportdiff.runtime.processes.in_child import ReusableWorker

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from threading import Event

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.lab.bench.records import Record

PROGRAM_SECONDS = 120.0


@dataclass(frozen=True)
class FirstShown:
    """What each program adds to those before it, for the first ``programs`` records."""

    roots: Mapping[int, frozenset[str]]
    """By the index of the program, the root causes that no program before it has shown."""
    programs: int
    interrupted: bool = False
    """Whether Ctrl-C or SIGTERM ended the search; ``programs`` may be fewer than all then."""


def first_shown(records: Sequence[Record], corpora: pathlib.Path, workers: int) -> FirstShown:
    """Attribute the records in their order; an interruption ends it early, and the answer says so."""
    search = _Search(records)
    try:
        in_threads(workers, lambda stop: search.work(corpora, stop))
    except KeyboardInterrupt:
        return FirstShown(search.in_order(), search.settled(), interrupted=True)
    return FirstShown(search.in_order(), len(records))


class _Search:
    """The programs that are left to attribute, and what the others have shown. Several threads share it."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        self._left = iter([each for each in records if each.findings])
        self._lock = Lock()
        self._shown: dict[int, frozenset[str]] = {}
        self._too_slow: set[int] = set()

    def work(self, corpora: pathlib.Path, stop: Event) -> None:
        """Attribute programs one after the other in a child process, until none is left."""
        with ReusableWorker() as child:
            while (record := self._take()) is not None:
                answer = child.ask(PROGRAM_SECONDS, beyond, record, corpora, self._known(), stop=stop)
                with self._lock:
                    if isinstance(answer, Death | TaskFailure):
                        self._too_slow.add(record.index)  # counts as a program that shows nothing new
                    else:
                        self._shown[record.index] = answer

    def _take(self) -> Record | None:
        with self._lock:
            return next(self._left, None)

    def _known(self) -> frozenset[str]:
        with self._lock:
            return frozenset().union(*self._shown.values())

    def settled(self) -> int:
        """Return how many records from the start on need no attribution any more."""
        for number, record in enumerate(self._records):
            if record.findings and record.index not in self._shown.keys() | self._too_slow:
                return number
        return len(self._records)

    def in_order(self) -> dict[int, frozenset[str]]:
        """Return what each settled program adds to those before it: workers may meet a root cause twice."""
        seen: set[str] = set()
        added = {}
        settled = {record.index for record in self._records[: self.settled()]}
        for index, roots in sorted((index, self._shown[index]) for index in settled & self._shown.keys()):
            if new := roots - seen:
                added[index] = new
                seen |= new
        return added


@dataclass(frozen=True)
class Shown:
    """A program, and what a campaign said about it. Plain data."""

    source: str
    verdict: Verdict
    tags: tuple[str, ...]


def beyond(record: Record | Shown, corpora: pathlib.Path, known: frozenset[str]) -> frozenset[str]:
    """Return the root causes of a program's findings that are left with the fixes of ``known`` in place."""
    with sources_forgotten():
        case = case_from_source(record.source)
        left = tuple(_left(case, record.verdict.findings, corpora, known))
        if not left:
            return frozenset()
        roots = roots_of(case, Verdict(True, "", record.verdict.paths, left, 0.0), record.tags, corpora)
    return frozenset().union(*roots.values()) - known


def _left(
    case: Case, findings: Sequence[Finding], corpora: pathlib.Path, known: Collection[str]
) -> Iterator[Finding]:
    """Yield each finding on the paths that still show it with these fixes in place."""
    corpus = knowledge(corpora)
    root = {entry.fix: entry.root for entry in corpus.entries}
    fixes = [corpus.fixes[name] for name in corpus.usable if root.get(name, name) in known]
    paths = tuple(dict.fromkeys(path for finding in findings for path in finding.shown_on))
    try:
        with only_these_fixes(fixes):
            verdict = judge_case(case, paths, fix_refusals(fixes))
    except FixError:
        yield from findings
        return
    shown = {(each.signature, path) for each in verdict.findings for path in each.shown_on}
    for finding in findings:
        stay = tuple(path for path in finding.shown_on if (finding.signature, path) in shown)
        if stay or not verdict.valid:
            yield on_paths(finding, stay or finding.shown_on)

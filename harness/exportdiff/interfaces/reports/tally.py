"""Adds up the events of a campaign."""

from __future__ import annotations

import pathlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args

from exportdiff.fuzzing.campaign.events import (
    CampaignFinished,
    CampaignStarted,
    EntriesFixed,
    Event,
    ExampleDone,
    FindingFound,
    FindingMinimized,
    FindingShrunk,
    FindingUnconfirmed,
    HarnessError,
    KnownSeen,
    NotMinimized,
    TorchesCompared,
)
from exportdiff.known.attribution.classification import NEW, Classification, ClassificationKind
from exportdiff.known.attribution.explained import By
from exportdiff.known.corpus.entry import OPEN, read_entry

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding
    from exportdiff.fuzzing.other_torch.differences import Change
    from exportdiff.judging.results import PathResult


@dataclass
class PathTally:
    """The results of one path over all programs."""

    runs: int = 0
    ok: int = 0
    unsupported: int = 0
    findings: int = 0


@dataclass
class ExportTally:
    """The results of export in one mode. A program counts once, even if several paths use its export."""

    programs: int = 0
    refused: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    """How often export refused, by the short name of the documented refusal."""


@dataclass
class TalliedFinding:
    """A finding, and the programs that show it."""

    finding: Finding
    first_example: int
    first_seconds: float
    example: int
    """The program that stands for the finding now: the first, or a smaller one."""
    classification: Classification = NEW
    """Whether plain torch shows it, or only torch with some fixes installed."""
    entry: str = ""
    """If it is known: the corpus entry of its root cause; empty: there is none."""
    remark: str = ""
    """Why the explanation or classification may be incomplete."""
    by: By = "fix"
    """If it is known: how that was found out."""

    @classmethod
    def first(cls, event: FindingFound | KnownSeen) -> TalliedFinding:
        """Return the finding of its first event."""
        shown = cls(event.finding, event.example, event.at, event.example)
        if isinstance(event, KnownSeen):
            shown.entry, shown.remark, shown.by = event.entry, event.remark, event.by
        else:
            shown.classification, shown.remark = event.classification, event.classification.remark
        return shown


@dataclass
class Tally:
    """The sums. The console and summary.json read them, so the tally must receive each event first."""

    folder: pathlib.Path = pathlib.Path()
    """The folder of summary.json; the paths of repro files in summary.json are relative to it."""
    corpora: pathlib.Path = pathlib.Path("corpora")
    started: CampaignStarted | None = None
    finished: CampaignFinished | None = None
    examples: int = 0
    valid: int = 0
    unsupported: int = 0
    torch_seconds: float = 0.0
    judged: int = 0
    """On how many programs eager was compared with a path."""
    harness_errors: int = 0
    paths: dict[str, PathTally] = field(default_factory=dict)
    tags: Counter[str] = field(default_factory=Counter)
    """How many programs have each tag."""
    invalid_reasons: Counter[str] = field(default_factory=Counter)
    exports: dict[str, ExportTally] = field(default_factory=dict)
    occurrences: Counter[str] = field(default_factory=Counter)
    """How many programs show a finding, by the keys of ``findings`` and ``known``."""
    findings: dict[str, TalliedFinding] = field(default_factory=dict)
    """The findings that the corpus does not explain, by the fingerprint of their first event."""
    known: dict[str, TalliedFinding] = field(default_factory=dict)
    """The findings that the corpus explains, by the name of the root cause."""
    sampled: int = 0
    """On how many programs plain torch was judged, to count the known bugs."""
    failed_fixes: Counter[str] = field(default_factory=Counter)
    """On how many programs a fix itself raised an error, by the name of the fix."""
    not_minimized: dict[str, str] = field(default_factory=dict)
    """Why findings were not minimized, by the keys of ``findings``."""
    dropped: dict[str, Classification] = field(default_factory=dict)
    """Findings that no fresh process has confirmed so far, by fingerprint."""
    compared: list[TorchesCompared] = field(default_factory=list)
    """The differences between this torch and the other one."""
    fixed_entries: tuple[str, ...] | None = None
    """The entries of the corpus that pass here and not there; None: they were not run."""

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, CampaignStarted):
            self.started = event
            self.paths = {path: PathTally() for path in event.paths}
        elif isinstance(event, ExampleDone):
            self._example(event)
        elif isinstance(event, FindingFound):
            self.findings[event.finding.fingerprint] = TalliedFinding.first(event)
            self.dropped.pop(event.finding.fingerprint, None)
        elif isinstance(event, KnownSeen):
            self.known[event.cause] = TalliedFinding.first(event)
        elif isinstance(event, FindingShrunk):
            shown = self.findings[event.finding.fingerprint]
            shown.finding, shown.example = event.finding, event.example
            shown.classification, shown.remark = event.classification, event.classification.remark
        elif isinstance(event, FindingMinimized):
            self._minimized(event)
        elif isinstance(event, FindingUnconfirmed):
            self.dropped[event.finding.fingerprint] = event.classification
        elif isinstance(event, NotMinimized):
            self.not_minimized[event.fingerprint] = event.reason
        elif isinstance(event, TorchesCompared):
            self.compared.append(event)
        elif isinstance(event, EntriesFixed):
            self.fixed_entries = event.entries
        elif isinstance(event, HarnessError):
            self.harness_errors += 1
        elif isinstance(event, CampaignFinished):
            self.finished = event

    def _minimized(self, event: FindingMinimized) -> None:
        same = [
            key
            for key, shown in self.findings.items()
            if key != event.was and shown.finding.fingerprint == event.finding.fingerprint
        ]
        if same:
            # Minimizing showed that two findings have the same cause.
            self.occurrences[same[0]] += self.occurrences.pop(event.was)
            del self.findings[event.was]
        else:
            self.findings[event.was].finding = event.finding
            self.findings[event.was].example = event.example
            self.findings[event.was].classification = event.classification

    def _example(self, event: ExampleDone) -> None:
        self.examples += 1
        self.sampled += event.sampled
        self.failed_fixes.update(event.failed_fixes)
        self.torch_seconds += event.torch_seconds
        self.tags.update(event.tags)
        self.occurrences.update(event.fingerprints)
        self.occurrences.update(event.known)
        if event.valid:
            self.valid += 1
        else:
            # The text after the colon differs between programs.
            self.invalid_reasons[event.invalid_reason.partition(":")[0]] += 1
        self.judged += any(result.outcome in ("agrees", "differs") for result in event.paths)
        self._count_paths(event.paths)
        self._count_exports(event.paths)

    def _count_paths(self, results: tuple[PathResult, ...]) -> None:
        for result in results:
            tally = self.paths.setdefault(str(result.path), PathTally())
            tally.runs += 1
            tally.ok += result.status == "ok"
            tally.unsupported += result.status == "unsupported"
            tally.findings += result.status == "finding"

    def _count_exports(self, results: tuple[PathResult, ...]) -> None:
        refusals: dict[str, set[str]] = {}
        for result in results:
            reasons = refusals.setdefault("+".join((result.path.mode, *result.path.transforms)), set())
            if result.status == "unsupported":
                reasons.add(result.reason)
        for mode, reasons in refusals.items():
            exports = self.exports.setdefault(mode, ExportTally())
            exports.programs += 1
            exports.refused += bool(reasons)
            exports.refusals.update(reasons)
        self.unsupported += bool(refusals.get("nonstrict"))

    @property
    def refused_exports(self) -> dict[str, ExportTally]:
        """The modes, without transforms, in which export refused programs."""
        return {mode: each for mode, each in self.exports.items() if each.refused and "+" not in mode}

    @property
    def unconfirmed(self) -> int:
        """How many causes no fresh process confirmed."""
        return len(self.occurrences.keys() - self.findings.keys() - self.known.keys())

    @property
    def unconfirmed_by_class(self) -> dict[ClassificationKind, int]:
        """How many causes of each kind were tried in a fresh process, none with success."""
        kinds = [classification.kind for classification in self.dropped.values()]
        return {kind: kinds.count(kind) for kind in get_args(ClassificationKind)}

    @property
    def known_by(self) -> dict[By, int]:
        """How many root causes of ``known`` a fix has proved, and how many only resemble an entry."""
        found = [shown.by for shown in self.known.values()]
        return {by: found.count(by) for by in get_args(By)}

    @property
    def known_fixed(self) -> int:
        """How many root causes of ``known`` are fixed in the newest torch on which they were tried."""
        files = [self.corpora / OPEN / f"{shown.entry}.py" for shown in self.known.values() if shown.entry]
        return sum(not read_entry(file).versions.open for file in files)

    def of_kind(self, kind: ClassificationKind) -> dict[str, TalliedFinding]:
        """Return the findings that plain torch shows, that a known bug masks, or that a fix causes."""
        return {key: shown for key, shown in self.findings.items() if shown.classification.kind == kind}

    def changed(self, change: Change) -> list[TorchesCompared]:
        """Return the differences of this kind from the other torch; first those that most programs show."""
        found = (each for each in self.compared if each.change == change)
        return sorted(found, key=lambda each: (-each.programs, each.example, each.path))

    @property
    def new(self) -> int:
        """How many findings of plain torch the corpus does not explain."""
        return len(self.of_kind("new"))

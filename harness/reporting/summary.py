"""summary.json: what a campaign came to, as one JSON document."""

from __future__ import annotations

import json
import os
import pathlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.engine.events import (
    CampaignFinished,
    CampaignStarted,
    Event,
    ExampleDone,
    FindingFound,
    FindingMinimized,
    FindingShrunk,
    HarnessError,
    KnownSeen,
)

if TYPE_CHECKING:
    from harness.findings import Finding
    from harness.reporting.folder import Folder


@dataclass
class PathTally:
    """How one path fared over all programs."""

    runs: int = 0
    ok: int = 0
    unsupported: int = 0
    findings: int = 0


@dataclass
class ExportTally:
    """How the exports of one mode fared: one a program, whatever the number of paths below it."""

    programs: int = 0
    refused: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    """By the short name of the documented refusal."""


@dataclass
class Shown:
    """One confirmed finding."""

    finding: Finding
    first_example: int
    first_seconds: float
    example: int
    """Of the program that stands for it now: the first, or a smaller one."""


@dataclass
class Tally:
    """Adds up events. The console and summary.json both read it."""

    folder: pathlib.Path = pathlib.Path()
    """Where summary.json will be: the repro files are named from there."""
    corpora: pathlib.Path = pathlib.Path("corpora")
    started: CampaignStarted | None = None
    finished: CampaignFinished | None = None
    examples: int = 0
    valid: int = 0
    unsupported: int = 0
    torch_seconds: float = 0.0
    harness_errors: int = 0
    paths: dict[str, PathTally] = field(default_factory=dict)
    features: Counter[str] = field(default_factory=Counter)
    invalid_reasons: Counter[str] = field(default_factory=Counter)
    exports: dict[str, ExportTally] = field(default_factory=dict)
    occurrences: Counter[str] = field(default_factory=Counter)
    shown: dict[str, Shown] = field(default_factory=dict)
    """New findings, by the fingerprint that they had when they were found."""
    known: dict[str, Shown] = field(default_factory=dict)
    """Findings that the corpus explains, by entry."""

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, CampaignStarted):
            self.started = event
            self.paths = {path: PathTally() for path in event.paths}
        elif isinstance(event, ExampleDone):
            self._example(event)
        elif isinstance(event, FindingFound):
            self.shown[event.finding.fingerprint] = Shown(
                event.finding, event.example, event.at, event.example
            )
        elif isinstance(event, KnownSeen):
            self.known[event.entry] = Shown(event.finding, event.example, event.at, event.example)
        elif isinstance(event, FindingShrunk):
            self.shown[event.finding.fingerprint].finding = event.finding
            self.shown[event.finding.fingerprint].example = event.example
        elif isinstance(event, FindingMinimized):
            self._minimized(event)
        elif isinstance(event, HarnessError):
            self.harness_errors += 1
        elif isinstance(event, CampaignFinished):
            self.finished = event

    def _minimized(self, event: FindingMinimized) -> None:
        same = [
            key
            for key, shown in self.shown.items()
            if key != event.was and shown.finding.fingerprint == event.finding.fingerprint
        ]
        if same:
            # Two that looked different are one when they are small.
            self.occurrences[same[0]] += self.occurrences.pop(event.was)
            del self.shown[event.was]
        else:
            self.shown[event.was].finding = event.finding
            self.shown[event.was].example = event.example

    def _example(self, event: ExampleDone) -> None:
        self.examples += 1
        self.torch_seconds += event.torch_seconds
        self.features.update(event.features)
        self.occurrences.update(event.fingerprints)
        self.occurrences.update(event.known)
        if event.valid:
            self.valid += 1
        else:
            # The rest of the line is about this one program.
            self.invalid_reasons[event.invalid_reason.partition(":")[0]] += 1
        refusals: dict[str, set[str]] = {}
        for result in event.paths:
            tally = self.paths.setdefault(str(result.path), PathTally())
            tally.runs += 1
            tally.ok += result.status == "ok"
            tally.unsupported += result.status == "unsupported"
            tally.findings += result.status == "finding"
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
    def unconfirmed(self) -> int:
        """Causes that no fresh process showed."""
        return len(self.occurrences.keys() - self.shown.keys() - self.known.keys())

    @property
    def new(self) -> int:
        """Findings that no open bug of the corpus explains."""
        return len(self.shown)

    def as_dict(self) -> dict[str, Any]:
        """Return the document, keys in a fixed order."""
        started = self.started
        seconds = self.finished.at if self.finished else 0.0
        return {
            "torch": started.torch if started else "",
            "python": started.python if started else "",
            "seed": started.seed if started else 0,
            "profile": started.profile if started else "",
            "seconds": seconds,
            "examples": self.examples,
            "valid": self.valid,
            "invalid": self.examples - self.valid,
            "unsupported": self.unsupported,
            "examples_per_second": round(self.examples / seconds, 2) if seconds else 0.0,
            "torch_seconds": round(self.torch_seconds, 3),
            "paths": {path: vars(tally) for path, tally in self.paths.items()},
            "features": dict(sorted(self.features.items())),
            "findings": [
                *(self._finding(fingerprint, shown) for fingerprint, shown in self.shown.items()),
                *(self._known(name, shown) for name, shown in self.known.items()),
            ],
            "unconfirmed": self.unconfirmed,
            "harness_errors": self.harness_errors,
            "invalid_reasons": dict(self.invalid_reasons.most_common()),
            "exports": {
                mode: {**vars(tally), "refusals": dict(tally.refusals.most_common())}
                for mode, tally in self.exports.items()
            },
            "finished": self.finished.reason if self.finished else None,
        }

    def _finding(self, fingerprint: str, shown: Shown) -> dict[str, Any]:
        return {
            **finding_dict(shown.finding),
            "known": False,
            **self._occurrence(fingerprint, shown),
            "repro": f"findings/{fingerprint}.py",
        }

    def _known(self, name: str, shown: Shown) -> dict[str, Any]:
        return {
            **finding_dict(shown.finding),
            "known": True,
            "entry": name,
            **self._occurrence(name, shown),
            "repro": os.path.relpath(self.corpora / "open" / f"{name}.py", self.folder),
        }

    def _occurrence(self, key: str, shown: Shown) -> dict[str, Any]:
        return {
            "count": self.occurrences[key],
            "first_example": shown.first_example,
            "first_seconds": shown.first_seconds,
            "example": shown.example,
        }


def finding_dict(finding: Finding) -> dict[str, Any]:
    """Return a finding as summary.json and ``check --json`` print it."""
    return finding.as_dict()


class SummaryFile:
    """Writes summary.json when the campaign ends."""

    def __init__(self, folder: Folder, tally: Tally) -> None:
        """Write what ``tally`` has added up; feed the tally first."""
        self._folder = folder
        self._tally = tally

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, CampaignFinished):
            text = json.dumps(self._tally.as_dict(), indent=1, ensure_ascii=False)
            # In one step: a reader never sees half a summary.
            part = self._folder.summary.with_suffix(".part")
            part.write_text(text + "\n", encoding="utf-8")
            part.replace(self._folder.summary)

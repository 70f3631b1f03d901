"""The course of a campaign over time, for plots and pages."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exportdiff.fuzzing.campaign.events import (
    Event,
    ExampleDone,
    FindingFound,
    FindingMinimized,
    FindingShrunk,
    HarnessError,
    TorchesCompared,
)
from exportdiff.interfaces.reports.discovery import Discovery
from exportdiff.known.attribution.explained import UNRESOLVED

if TYPE_CHECKING:
    from exportdiff.interfaces.reports.tally import Tally


@dataclass(frozen=True)
class ProgramFindings:
    """A program with findings or known bugs."""

    number: int
    """The number of the program, from 1, in the order in which programs were judged."""
    fingerprints: tuple[str, ...]
    known: tuple[str, ...]
    sampled: bool


@dataclass(frozen=True)
class FindingTexts:
    """The texts of a finding."""

    source: str
    """The program."""
    repro: str
    printed: str
    """The line that the repro file printed; empty: not recorded."""


@dataclass
class Timeline:
    """Collects the events of a campaign. Its methods need all events."""

    times: array[float] = field(default_factory=lambda: array("d"))
    """When each program was judged, in seconds since the campaign began."""
    program_findings: list[ProgramFindings] = field(default_factory=list)
    runs: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """By path and tag: how many programs with the tag were judged on the path and not refused."""
    findings: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """By path and tag: how many of them show a finding on the path."""
    texts: dict[str, FindingTexts] = field(default_factory=dict)
    """By the fingerprint in the first event of a finding."""
    minimized_as: dict[str, str] = field(default_factory=dict)
    """The fingerprint after minimizing, by the one before."""
    failures: dict[tuple[str, ...], list[HarnessError]] = field(default_factory=dict)
    """Exceptions in the code of exportdiff, by their place."""

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, ExampleDone):
            self._example(event)
        elif isinstance(event, FindingFound | FindingShrunk):
            self.texts[event.finding.fingerprint] = FindingTexts(event.source, event.repro, event.printed)
        elif isinstance(event, FindingMinimized):
            self.texts[event.was] = FindingTexts(event.source, event.repro, event.printed)
            self.minimized_as[event.was] = event.finding.fingerprint
        elif isinstance(event, TorchesCompared) and event.repro:
            self.texts[event.fingerprint] = FindingTexts(event.source, event.repro, "")
        elif isinstance(event, HarnessError):
            self.failures.setdefault(event.place or (event.traceback,), []).append(event)

    def _example(self, event: ExampleDone) -> None:
        self.times.append(event.at)
        if event.fingerprints or event.known or event.sampled:
            number = len(self.times)
            self.program_findings.append(
                ProgramFindings(number, event.fingerprints, event.known, event.sampled)
            )
        for result in event.paths:
            if result.status == "unsupported":
                continue
            path = str(result.path)
            self.runs[path].update(event.tags)
            if result.status == "finding":
                self.findings[path].update(event.tags)

    def rates(self, windows: int, seconds: float, least: float = 10.0) -> list[tuple[float, float]]:
        """Return the start of each window in seconds, and the programs per second in it.

        There are at most ``windows`` windows of equal length, none shorter than ``least``. The last one is
        cut at ``seconds``.
        """
        if seconds <= 0:
            return []
        length = max(least, seconds / windows)
        counts = Counter(int(min(at, seconds) // length) for at in self.times)
        number = max(1, round(seconds / length + 0.49))
        lengths = [min(length, seconds - place * length) for place in range(number)]
        # A short window at the end has too few programs for a rate.
        return [
            (place * length, counts[place] / long)
            for place, long in enumerate(lengths)
            if long >= length / 2 or number == 1
        ]

    def unexplained(self, tally: Tally) -> Discovery:
        """Return the discovery of the findings that the corpus does not explain, over all programs.

        Findings of one signature count once. Unconfirmed findings and regressions of fixes do not count.
        """
        minimal = {each.finding.fingerprint: each for each in tally.findings.values()}
        species = {}
        for key in self.texts:
            shown = tally.findings.get(key) or minimal.get(self.minimized_as.get(key, ""))
            if shown is not None and shown.classification.kind != "regression":
                species[key] = " ".join(shown.finding.signature)
        found = Discovery()
        for each in self.program_findings:
            found.programs = each.number - 1
            found.add(species[key] for key in each.fingerprints if key in species)
        found.programs = len(self.times)
        return found

    def known(self) -> Discovery:
        """Return the discovery of the known bugs, over the programs on which they were counted."""
        found = Discovery()
        for each in self.program_findings:
            if each.sampled:
                found.add(name for name in each.known if name != UNRESOLVED.name)
        return found

"""The timeline of a campaign: what the sums of the tally leave out, for plots and pages."""

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
class Shows:
    """A program that shows something, and what."""

    number: int
    """Counted from 1, in the order in which programs were done."""
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
    """What the repro file printed; empty: not recorded."""


@dataclass
class Timeline:
    """Collects while events come; ask when they have ended."""

    times: array[float] = field(default_factory=lambda: array("d"))
    """When each program was done, in seconds since the campaign began."""
    shows: list[Shows] = field(default_factory=list)
    runs: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """By path and tag: how many programs with the tag were judged on the path; torch refused no export."""
    findings: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """By path and tag: how many of them show a finding there."""
    told: dict[str, FindingTexts] = field(default_factory=dict)
    """By the fingerprint of the first event of a finding."""
    became: dict[str, str] = field(default_factory=dict)
    """The fingerprint after minimizing, by the one before."""
    failures: dict[tuple[str, ...], list[HarnessError]] = field(default_factory=dict)
    """Exceptions in exportdiff's own code, by their place."""

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, ExampleDone):
            self._example(event)
        elif isinstance(event, FindingFound | FindingShrunk):
            self.told[event.finding.fingerprint] = FindingTexts(event.source, event.repro, event.printed)
        elif isinstance(event, FindingMinimized):
            self.told[event.was] = FindingTexts(event.source, event.repro, event.printed)
            self.became[event.was] = event.finding.fingerprint
        elif isinstance(event, TorchesCompared) and event.repro:
            self.told[event.fingerprint] = FindingTexts(event.source, event.repro, "")
        elif isinstance(event, HarnessError):
            self.failures.setdefault(event.place or (event.traceback,), []).append(event)

    def _example(self, event: ExampleDone) -> None:
        self.times.append(event.at)
        if event.fingerprints or event.known or event.sampled:
            number = len(self.times)
            self.shows.append(Shows(number, event.fingerprints, event.known, event.sampled))
        for result in event.paths:
            if result.status == "unsupported":
                continue
            path = str(result.path)
            self.runs[path].update(event.tags)
            if result.status == "finding":
                self.findings[path].update(event.tags)

    def rates(self, windows: int, seconds: float, least: float = 10.0) -> list[tuple[float, float]]:
        """Return the programs per second in windows of equal length, each with its start in seconds.

        At most so many windows, none shorter than ``least``; the last one ends after ``seconds``, and what it
        lacks is not counted.
        """
        if seconds <= 0:
            return []
        length = max(least, seconds / windows)
        counts = Counter(int(min(at, seconds) // length) for at in self.times)
        number = max(1, round(seconds / length + 0.49))
        lengths = [min(length, seconds - place * length) for place in range(number)]
        # A sliver at the end says nothing.
        return [
            (place * length, counts[place] / long)
            for place, long in enumerate(lengths)
            if long >= length / 2 or number == 1
        ]

    def unexplained(self, tally: Tally) -> Discovery:
        """Return how the findings that the corpus does not explain were discovered, over all programs.

        Findings of one signature on several paths are one; what no fresh process confirmed is none.
        """
        minimal = {shown.finding.fingerprint: shown for shown in tally.shown.values()}
        species = {}
        for key in self.told:
            shown = tally.shown.get(key) or minimal.get(self.became.get(key, ""))
            if shown is not None and shown.classification.kind != "regression":
                species[key] = " ".join(shown.finding.signature)
        found = Discovery()
        for each in self.shows:
            found.programs = each.number - 1
            found.add(species[key] for key in each.fingerprints if key in species)
        found.programs = len(self.times)
        return found

    def known(self) -> Discovery:
        """Return how the known bugs were discovered, over the programs on which they were counted."""
        found = Discovery()
        for each in self.shows:
            if each.sampled:
                found.add(name for name in each.known if name != UNRESOLVED.name)
        return found

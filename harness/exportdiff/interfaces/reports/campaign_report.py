"""What reports say about a campaign: its sums, its timeline, and one sentence about the result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError
from exportdiff.core.listing import listed
from exportdiff.interfaces.reports.folder import Folder
from exportdiff.interfaces.reports.joining import campaign_events
from exportdiff.interfaces.reports.tally import Tally
from exportdiff.interfaces.reports.timeline import Timeline
from exportdiff.interfaces.wording import counted
from exportdiff.known.corpus.entry import CORPORA

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence

    from exportdiff.fuzzing.campaign.events import Event


@dataclass
class CampaignReport:
    """Collects the events of one campaign."""

    tally: Tally
    timeline: Timeline = field(default_factory=Timeline)
    last: float = 0.0
    """The time of the latest event, in seconds since the campaign began."""

    @classmethod
    def of(cls, folders: Sequence[Folder], corpora: pathlib.Path = CORPORA) -> CampaignReport:
        """Read the folder of a campaign, or the folders of its shards. Raises UsageError."""
        campaign = cls(Tally(folders[0].root, corpora))
        for event in campaign_events(folders):
            campaign(event)
        if campaign.tally.started is None:
            raise UsageError(f"{folders[0].root}: {folders[0].log.name} is empty: no program was judged yet")
        return campaign

    def __call__(self, event: Event) -> None:
        """Take one event."""
        self.last = max(self.last, event.at)
        self.tally(event)
        self.timeline(event)

    @property
    def fuzzing(self) -> float:
        """The seconds during which programs were judged."""
        finished = self.tally.finished
        if finished is not None and finished.fuzzing:
            return finished.fuzzing
        return max(self.timeline.times, default=self.last)

    @property
    def rate(self) -> float:
        """Programs per second."""
        return self.tally.examples / self.fuzzing if self.fuzzing else 0.0

    def speed(self) -> str:
        """Return ``6.9 programs per second``; of a slow campaign, ``6.9 programs per minute``."""
        if self.rate >= 1 or not self.rate:
            return f"{self.rate:.1f} programs per second"
        return f"{60 * self.rate:.1f} programs per minute"

    @property
    def torch(self) -> str:
        """The version of torch."""
        return self.tally.started.torch if self.tally.started is not None else ""

    def counts(self) -> str:
        """Return the numbers of findings: ``2 new, 1 masked, 0 regressions of fixes``."""
        masked, wrong = len(self.tally.of_kind("masked")), len(self.tally.of_kind("regression"))
        return f"{self.tally.new} new, {masked} masked, {counted(wrong, 'regression')} of fixes"

    def verdict(self) -> str:
        """Return one sentence about the result."""
        tally = self.tally
        if not tally.judged and not tally.findings:
            return "No program was judged."
        worse = len(tally.changed("torch regression"))
        parts = [counted(worse, "regression") + " of torch"] * bool(worse)
        parts += [counted(tally.new, "new finding")] * bool(tally.new)
        if masked := len(tally.of_kind("masked")):
            noun = "" if parts else f" finding{'s' * (masked != 1)}"
            parts.append(f"{masked}{noun} masked by known bugs")
        if wrong := len(tally.of_kind("regression")):
            parts.append(f"{counted(wrong, 'regression')} of fixes")
        programs = counted(tally.examples, "program")
        if not parts:
            return f"Nothing new in {programs}."
        return f"{listed(parts)} in {programs}."

    def why_nothing_was_judged(self) -> str:
        """Return a sentence about why no program was judged; empty if one was, or if the campaign runs."""
        tally = self.tally
        if tally.judged or tally.finished is None:
            return ""
        if not tally.examples:
            return "No program was judged: the campaign ended before the first."
        if not tally.valid:
            reason, _ = max(tally.invalid_reasons.items(), key=lambda each: each[1])
            return f"No program was judged: none of {counted(tally.examples, 'program')} is valid ({reason})."
        return f"No program was judged: torch refuses all valid ones of {counted(tally.examples, 'program')}."

    def troubles(self, details: str = "events.ndjson") -> list[str]:
        """Return a sentence for each problem of the campaign itself; ``details``: where readers find more."""
        tally, found = self.tally, []
        finished = tally.finished
        if finished is None:
            found.append("The campaign is still running, or it was killed. These are its results so far.")
        elif finished.reason == "interrupted":
            found.append("The campaign was interrupted.")
        elif finished.reason == "errors":
            found.append("The campaign ended early, because exportdiff failed again and again at one place.")
        found += [self.why_nothing_was_judged()] * bool(self.why_nothing_was_judged())
        if tally.harness_errors:
            found.append(f"exportdiff itself failed {counted(tally.harness_errors, 'time')}: see {details}.")
        if finished is not None and finished.given_up:
            found.append(f"{counted(finished.given_up, 'program')} had no result when the time was over.")
        return found

"""A campaign as a report tells it: the sums, the timeline, and one sentence that says how it went."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError
from exportdiff.interfaces.reports.folder import Folder
from exportdiff.interfaces.reports.joining import campaign_events
from exportdiff.interfaces.reports.tally import Tally
from exportdiff.interfaces.reports.text import counted
from exportdiff.interfaces.reports.timeline import Timeline
from exportdiff.known.corpus.entry import CORPORA

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence

    from exportdiff.fuzzing.campaign.events import Event


@dataclass
class CampaignReport:
    """Takes the events of one campaign."""

    tally: Tally
    timeline: Timeline = field(default_factory=Timeline)
    last: float = 0.0
    """The time of the latest event, in seconds since the campaign began."""

    @classmethod
    def of(cls, folders: Sequence[Folder], corpora: pathlib.Path = CORPORA) -> CampaignReport:
        """Read the folder of a campaign, or those of its shards. Raises UsageError."""
        campaign = cls(Tally(folders[0].root, corpora))
        for event in campaign_events(folders):
            campaign(event)
        if campaign.tally.started is None:
            raise UsageError(f"{folders[0].root}: {folders[0].log.name} is empty: nothing was judged yet")
        return campaign

    def __call__(self, event: Event) -> None:
        """Take one event."""
        self.last = max(self.last, event.at)
        self.tally(event)
        self.timeline(event)

    @property
    def fuzzing(self) -> float:
        """The seconds in which programs were judged."""
        finished = self.tally.finished
        if finished is not None and finished.fuzzing:
            return finished.fuzzing
        return max(self.timeline.times, default=self.last)

    @property
    def rate(self) -> float:
        """Programs per second."""
        return self.tally.examples / self.fuzzing if self.fuzzing else 0.0

    def speed(self) -> str:
        """Return ``6.9 programs a second``, or how many a minute."""
        if self.rate >= 1 or not self.rate:
            return f"{self.rate:.1f} programs a second"
        return f"{60 * self.rate:.1f} programs a minute"

    @property
    def torch(self) -> str:
        """The version of torch."""
        return self.tally.started.torch if self.tally.started is not None else ""

    def verdict(self) -> str:
        """Say in one sentence how it went."""
        tally = self.tally
        if not tally.examples:
            return "No program was judged."
        worse = len(tally.changed("torch regression"))
        parts = [counted(worse, "regression") + " of torch"] * bool(worse)
        parts += [counted(tally.new, "new finding")] * bool(tally.new)
        if masked := len(tally.of_kind("masked")):
            noun = "" if parts else f" finding{'s' * (masked != 1)}"
            parts.append(f"{masked}{noun} masked by known bugs")
        if wrong := len(tally.of_kind("regression")):
            parts.append(f"{counted(wrong, 'regression')} of fixes")
        programs = f"{tally.examples:,} program{'s' * (tally.examples != 1)}"
        if not parts:
            return f"Nothing new in {programs}."
        return f"{listed(parts)} in {programs}."

    def troubles(self, details: str = "events.ndjson") -> list[str]:
        """Say what went wrong with the campaign itself, a sentence each; ``details``: where they are."""
        tally, found = self.tally, []
        finished = tally.finished
        if finished is None:
            found.append(
                "The campaign has no end: it still runs, or it was killed. This is what it has so far."
            )
        elif finished.reason == "interrupted":
            found.append("It was interrupted before its end.")
        elif finished.reason == "errors":
            found.append("It ended early, because exportdiff failed again and again at one place.")
        if tally.harness_errors:
            found.append(f"exportdiff itself failed {counted(tally.harness_errors, 'time')}: see {details}.")
        if finished is not None and finished.given_up:
            found.append(f"{counted(finished.given_up, 'program')} had no result when the time was over.")
        return found


def listed(parts: Sequence[str]) -> str:
    """Return ``a``, ``a and b``, ``a, b and c``."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def span(seconds: float) -> str:
    """Return ``45 s``, ``12 min``, ``2 h 5 min``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours else f"{minutes} min"

"""Joins the events of several shards into those of one campaign, in the order of time."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError
from exportdiff.fuzzing.campaign import events
from exportdiff.interfaces.reports.event_reading import read_events

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exportdiff.interfaces.reports.folder import Folder


def campaign_events(folders: Sequence[Folder]) -> Iterator[events.Event]:
    """Yield the events of a campaign from its folder, or from the folders of its shards.

    If several shards show a finding or a known bug, its events are those of the shard with the earliest
    program. There is an event for the end only if all shards have ended. Raises UsageError if the folders are
    not of one campaign, or if two have the same program.
    """
    if len(folders) == 1:
        yield from read_events(folders[0].log)
        return
    shards = [_Shard.of(folder) for folder in folders]
    yield _joined_start(shards)
    owners = _owners(shards)
    seen: dict[int, Folder] = {}
    streams = (_events(shard, owners, seen) for shard in shards)
    yield from heapq.merge(*streams, key=lambda event: event.at)
    ends = [shard.finished for shard in shards if shard.finished is not None]
    if len(ends) == len(shards):
        bad = [end.reason for end in ends if end.reason not in ("examples", "time")]
        yield events.CampaignFinished(
            max(end.at for end in ends),
            bad[0] if bad else ends[0].reason,
            sum(end.given_up for end in ends),
            max(end.fuzzing for end in ends),
        )


@dataclass(frozen=True)
class _Shard:
    folder: Folder
    started: events.CampaignStarted
    finished: events.CampaignFinished | None
    first: dict[str, int]
    """The first program of each finding, by fingerprint, and of each known bug, by the name of its cause."""

    @classmethod
    def of(cls, folder: Folder) -> _Shard:
        """Read the start, the end and the first programs of a shard. Raises UsageError."""
        started: events.CampaignStarted | None = None
        finished: events.CampaignFinished | None = None
        first: dict[str, int] = {}
        for event in read_events(folder.log):
            if isinstance(event, events.CampaignStarted):
                started = event
            elif isinstance(event, events.CampaignFinished):
                finished = event
            elif isinstance(event, events.FindingFound):
                first.setdefault(event.finding.fingerprint, event.example)
            elif isinstance(event, events.KnownSeen):
                first.setdefault(event.cause, event.example)
        if started is None:
            raise UsageError(f"{folder.root}: {folder.log.name} is empty; leave this folder out")
        return cls(folder, started, finished, first)


def _joined_start(shards: Sequence[_Shard]) -> events.CampaignStarted:
    first, *others = shards
    for other in others:
        for name, what in (
            ("seed", "seeds"),
            ("profile", "profiles"),
            ("around", "models that their programs put into situations"),
            ("near", "files of --near"),
            ("torch", "torches"),
            ("paths", "paths"),
            ("examples", "numbers of programs"),
            ("mended", "ways to judge: one with --plain, one without"),
            ("known_every", "values of --known-every"),
        ):
            if getattr(first.started, name) != getattr(other.started, name):
                raise UsageError(
                    f"{first.folder.root} and {other.folder.root} are not shards of one campaign: they have "
                    f"different {what}"
                )
        if first.started.shard[1] != other.started.shard[1]:
            raise UsageError(
                f"{first.folder.root} and {other.folder.root} are not shards of one campaign: "
                f"{first.started.shard[1]} shards, and {other.started.shard[1]}"
            )
    workers = sum(shard.started.workers for shard in shards)
    return replace(first.started, workers=workers, shard=(1, 1))


def _owners(shards: Sequence[_Shard]) -> dict[str, _Shard]:
    """Return the shard whose events are used, for each finding and each known bug."""
    owners: dict[str, _Shard] = {}
    for shard in shards:
        for name, example in shard.first.items():
            if name not in owners or example < owners[name].first[name]:
                owners[name] = shard
    return owners


def _events(shard: _Shard, owners: dict[str, _Shard], seen: dict[int, Folder]) -> Iterator[events.Event]:
    """Yield the events of one shard that no other shard owns; note its programs in ``seen``."""
    for event in read_events(shard.folder.log):
        if isinstance(event, events.ExampleDone):
            other = seen.setdefault(event.index, shard.folder)
            if other is not shard.folder:
                raise UsageError(
                    f"{other.root} and {shard.folder.root} both have program {event.index}; name each shard "
                    "once"
                )
        if isinstance(event, events.CampaignStarted | events.CampaignFinished):
            continue
        if owners.get(_about(event), shard) is shard:
            yield event


def _about(event: events.Event) -> str:
    """Return the finding or the known bug that an event is about; empty: it is about the campaign."""
    if isinstance(event, events.KnownSeen):
        return event.cause
    if isinstance(event, events.FindingMinimized):
        return event.was
    if isinstance(event, events.NotMinimized):
        return event.fingerprint
    if isinstance(event, events.FindingFound | events.FindingShrunk | events.FindingUnconfirmed):
        return event.finding.fingerprint
    return ""

"""Campaigns made by hand, for tests of what reports say about them."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from exportdiff.core.finding import Finding
from exportdiff.fuzzing.campaign.events import (
    CampaignEnvironment,
    CampaignFinished,
    CampaignStarted,
    Event,
    ExampleDone,
    FindingFound,
    FindingMinimized,
    FindingUnconfirmed,
    KnownSeen,
)
from exportdiff.interfaces.reports.folder import Folder
from exportdiff.judging.results import PathResult
from exportdiff.known.attribution.classification import Classification
from exportdiff.runtime.paths import parse
from support.evidence_of import make_finding

MODULE, UNFLATTEN, RELOAD = "nonstrict:module@cpu", "nonstrict:unflatten@cpu", "nonstrict+reload:module@cpu"
NEW = make_finding("value", message="call 0: output differs in value\neager <1.0> & here 2.0")
AGAIN = make_finding("value", path=RELOAD, message="call 0: output differs in value")
"""The same signature on another path."""
MASKED = make_finding("dtype", check="state", message="after call 0: buffer b differs in dtype")
WRONG = make_finding("shape", message="output differs in shape")
"""Found, and confirmed by no fresh process."""
REPRO = """\
# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# fingerprint = "0123456789"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# signature = ["outputs", "mismatch", "value"]
# status = "open"
# ///
import torch


def make():
    return torch.nn.Identity(), (torch.ones(1),)


if __name__ == "__main__":
    print("<differs>")
    raise SystemExit(1)
"""
FIXES = ("mend_the_first", "mend_the_second")


def started(seed: int = 7, examples: int = 40, shard: tuple[int, int] = (1, 1)) -> CampaignStarted:
    where = CampaignEnvironment("2026-03-01T23:30:00+00:00", "0.1.0 abc", "def", "Linux-6-x86_64", 4)
    paths = (MODULE, UNFLATTEN, RELOAD)
    return CampaignStarted(
        0.0,
        seed,
        examples,
        None,
        2,
        paths,
        "cpu",
        "default",
        shard,
        "2.13.0",
        "3.11.7",
        True,
        4,
        environment=where,
    )


def done(index: int, *fingerprints: str, known: Sequence[str] = (), refused: bool = False) -> ExampleDone:
    """A program that takes a second; every fourth is sampled."""
    bad, no = bool(fingerprints), "data-dependent"
    module, unflatten, reload = map(parse, (MODULE, UNFLATTEN, RELOAD))
    results: tuple[PathResult, ...]
    if refused:
        results = (PathResult(module, "unsupported", no), PathResult(unflatten, "unsupported", no))
    else:
        results = (
            PathResult(module, "ok", outcome="agrees"),
            PathResult(unflatten, "finding" if bad else "ok"),
        )
    if index % 7 == 0 and not refused:
        results = (*results, PathResult(reload, "ok"))
    tags = ("op.map", *(("state.buffer",) if index % 2 else ()), *(("calls.bool",) if bad else ()))
    return ExampleDone(
        index + 1.0,
        index,
        True,
        "",
        tags,
        results,
        fingerprints,
        tuple(known),
        0.5,
        0.6,
        sampled=index % 4 == 0,
    )


def a_campaign(
    seed: int = 7,
    shard: tuple[int, int] = (1, 1),
    findings: bool = True,
    examples: int = 40,
    known: str = "first",
) -> list[Event]:
    """Return the events of a campaign, or of one of its shards."""
    part, parts = shard
    events: list[Event] = [started(seed, examples, shard)]
    for index in range(part - 1, examples, parts):
        at = index + 1.0
        if not findings:
            events.append(done(index))
            continue
        shown = [
            finding.fingerprint
            for finding, shows in (
                (NEW, index % 5 == 3),
                (AGAIN, index == 3),
                (MASKED, index == 9),
                (WRONG, index == 11),
            )
            if shows
        ]
        causes = (f"{known}_bug", *((f"{known}_rare_bug",) if index == 8 else ())) if index % 4 == 0 else ()
        events.append(done(index, *shown, known=causes, refused=index == 12))
        if shows_first(NEW, shown, events):
            events.append(FindingFound(at, NEW, index, "x = 1\n", REPRO, printed="it <differs>"))
        if shows_first(AGAIN, shown, events):
            events.append(FindingFound(at, AGAIN, index, "x = 1\n", REPRO, printed="it differs there"))
        if shows_first(MASKED, shown, events):
            events.append(FindingFound(at, MASKED, index, "y = 1\n", REPRO, Classification("masked", FIXES)))
        if shows_first(WRONG, shown, events):
            events.append(FindingUnconfirmed(at, WRONG, index, "ok"))
        seen = {event.cause for event in events if isinstance(event, KnownSeen)}
        events += [KnownSeen(at, cause, cause, MASKED, index) for cause in causes if cause not in seen]
    events.append(CampaignFinished(examples + 2.0, "examples", 0, examples + 1.0))
    return events


def shows_first(finding: Finding, shown: Sequence[str], events: Sequence[Event]) -> bool:
    """Whether a program shows a finding that no event has yet."""
    seen = {event.finding for event in events if isinstance(event, FindingFound | FindingUnconfirmed)}
    return finding.fingerprint in shown and finding not in seen


def write(root: pathlib.Path, events: Iterable[Event]) -> Folder:
    """Write the log of a campaign to a folder, and nothing else."""
    root.mkdir(parents=True, exist_ok=True)
    folder = Folder(root)
    folder.log.write_text("".join(json.dumps(event.as_dict()) + "\n" for event in events))
    return folder


def minimized(at: float = 50.0) -> FindingMinimized:
    """The last event of the new finding."""
    small = replace(NEW, minimal="abcdef0123")
    return FindingMinimized(
        at, NEW.fingerprint, small, 3, "x\n", REPRO, 3.0, 9, printed="it <differs>, small"
    )

"""Minimizing at the end of a campaign: its order, its time, and what it leaves out."""

from __future__ import annotations

import pathlib
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from test_campaign import NONSTRICT, UNFLATTEN, calm, found, halved, no, source_of, with_a_fix, yes

from exportdiff.core.finding import Finding
from exportdiff.fuzzing.campaign import clock, final_minimizing
from exportdiff.fuzzing.campaign.campaign import Campaign
from exportdiff.fuzzing.campaign.events import (
    ExampleDone,
    FindingMinimized,
    FindingUnconfirmed,
    HarnessError,
    MinimizingStarted,
    NotMinimized,
)
from exportdiff.fuzzing.campaign.final_minimizing import NO_TIME
from exportdiff.fuzzing.campaign.settings import CampaignSettings
from exportdiff.fuzzing.campaign.triage import FindingPrograms, Witness, by_importance
from exportdiff.fuzzing.campaign.worker import ExampleResult, Job
from exportdiff.fuzzing.minimizing import Minimized, NotShownError
from exportdiff.judging.results import Verdict
from exportdiff.known.attribution.classification import NEW, Classification
from exportdiff.repro.confirm import Confirmation
from support.fake_clock import FakeClock


def three(job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    """Show one finding in every program, and two others, one of them masked, in fewer."""
    results = []
    for index in indices:
        shown = [found("often")]
        shown += [found("masked")] * (index > 0) + [found("rare")] * (index > 1)
        classifications = {found("masked").fingerprint: Classification("masked", ("mend_it",))}
        verdict = Verdict(True, "", (), tuple(shown), 0.001)
        source = source_of(job, index)[0]
        results.append(ExampleResult(index, verdict, (), source, 0.01, classifications=classifications))
    return tuple(results)


def test_masked_findings_are_minimized_last_and_their_files_name_the_fixes(tmp_path: pathlib.Path) -> None:
    within: list[tuple[str, ...]] = []

    def confirm(source: str, **given: Any) -> Confirmation:
        fixes = tuple(fix.name for fix in given["within"].args[0]) if given else ()
        within.append(fixes)
        assert ('# unmasked-by = ["mend_it"]' in source) == bool(fixes)
        return Confirmation(True, "BUG")

    settings = CampaignSettings(NONSTRICT, examples=4, minimize_seconds=1.0, corpora=with_a_fix(tmp_path))
    run = Campaign(settings, work=three, source=source_of, confirm=confirm, minimize=halved).run()
    *_, often, rare, masked, _ = [event for event in run if not isinstance(event, MinimizingStarted)]
    minimized = [event for event in (often, rare, masked) if isinstance(event, FindingMinimized)]
    assert [event.finding.evidence.words() for event in minimized] == [("often",), ("rare",), ("masked",)]
    assert [event.classification.kind for event in minimized] == ["new", "new", "masked"]
    assert within[-1] == ("mend_it",) and within[-2] == ()


def test_minimizing_ends_in_time_and_says_what_it_left_out(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, limits, shown = FakeClock(), list[float](), threading.Semaphore(0)
    monkeypatch.setattr(final_minimizing, "time", clock)

    def slow(source: str, finding: Finding, *, seconds: float, **_how: object) -> Minimized:
        limits.append(seconds)
        shown.acquire()  # until the campaign says that it waits for this finding
        clock.seconds += seconds
        return halved(source, finding)

    settings = CampaignSettings(
        NONSTRICT,
        examples=4,
        minimize_seconds=1.0,
        minimize_total_seconds=1.5,
        corpora=with_a_fix(tmp_path),
    )
    events = []
    for event in Campaign(settings, work=three, source=source_of, confirm=yes, minimize=slow).run():
        events.append(event)
        if isinstance(event, MinimizingStarted):
            shown.release()
    started = [event for event in events if isinstance(event, MinimizingStarted)]
    assert [(event.number, event.total) for event in started] == [(1, 3), (2, 3)]
    assert started[0].fingerprint == found("often").fingerprint
    # The second has what is left.
    assert limits == [event.limit for event in started] == [1.0, 0.5]
    left = [event for event in events if isinstance(event, NotMinimized)]
    assert [(event.fingerprint, event.reason) for event in left] == [(found("masked").fingerprint, NO_TIME)]
    assert CampaignSettings(NONSTRICT, minimize_seconds=20.0).minimize_total == 60.0


def test_a_program_that_cannot_be_minimized_is_no_error_of_exportdiff() -> None:
    def never(source: str, finding: Finding, **_how: object) -> Minimized:
        raise NotShownError("the program does not show it")

    settings = CampaignSettings(NONSTRICT, examples=4, minimize_seconds=1.0)
    events = list(Campaign(settings, work=calm, source=source_of, confirm=yes, minimize=never).run())
    (left,) = [event for event in events if isinstance(event, NotMinimized)]
    assert (left.fingerprint, left.reason) == (found("third").fingerprint, "the program does not show it")
    assert not any(isinstance(event, HarnessError | FindingMinimized) for event in events)


def test_an_unconfirmed_finding_says_what_it_would_have_been(tmp_path: pathlib.Path) -> None:
    settings = CampaignSettings(NONSTRICT, examples=2, corpora=with_a_fix(tmp_path))
    run = Campaign(settings, work=three, source=source_of, confirm=no).run()
    tried = [event for event in run if isinstance(event, FindingUnconfirmed)]
    assert [event.classification.kind for event in tried] == ["new", "masked", "new"]


def test_frequent_findings_come_first() -> None:
    masked = Classification("masked", ("mend_it",))

    def cause(finding: Finding, programs: int, classification: Classification = NEW) -> FindingPrograms:
        witness = Witness(finding, 7, "x\n", classification)
        return FindingPrograms(programs=programs, shown=witness)

    module = "nonstrict:module@cpu"
    causes = [
        cause(found("masked"), 9, masked),
        cause(found("rare"), 1),
        cause(found("often", module), 2),
        cause(found("often"), 3),
        FindingPrograms(programs=4),
    ]
    shown = [(each.finding.evidence.words()[0], str(each.finding.path)) for each in by_importance(causes)]
    assert shown == [
        ("often", UNFLATTEN),
        ("rare", UNFLATTEN),
        ("masked", UNFLATTEN),
        ("often", module),
    ]


def test_the_time_of_a_campaign_includes_minimizing(monkeypatch: pytest.MonkeyPatch) -> None:
    time = FakeClock()
    monkeypatch.setattr(clock, "time", time)
    monkeypatch.setattr(final_minimizing, "time", time)
    limits = list[float]()

    def minimize(source: str, finding: Finding, *, seconds: float, **_how: object) -> Minimized:
        limits.append(seconds)
        return halved(source, finding)

    settings = CampaignSettings(NONSTRICT, seconds=60.0, minimize_seconds=60.0)
    last = 0.0
    for event in Campaign(settings, work=calm, source=source_of, confirm=yes, minimize=minimize).run():
        if isinstance(event, ExampleDone):
            last = event.at
            time.seconds += 1.0
    # The last 20 seconds are for the finding; a fresh process needs some of them to confirm the result.
    assert 38.0 <= last <= 43.0
    assert limits == [60.0 - time.seconds - final_minimizing.CONFIRMING]


@pytest.mark.parametrize(
    ("seconds", "one", "reserved"),
    [(None, 60.0, 0.0), (60.0, 0.0, 0.0), (60.0, 60.0, 20.0), (7200.0, 60.0, 180.0)],
)
def test_a_third_of_the_time_at_most_is_for_minimizing(
    seconds: float | None, one: float, reserved: float
) -> None:
    assert CampaignSettings(NONSTRICT, seconds=seconds, minimize_seconds=one).reserved == reserved

"""The engine: order, determinism, processes that die, time limits, and interruption."""

from __future__ import annotations

import contextlib
import functools
import json
import operator
import os
import pathlib
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from exportdiff.cli import campaign_run, main
from exportdiff.core.finding import Finding
from exportdiff.fuzzing.campaign import clock, worker
from exportdiff.fuzzing.campaign.campaign import Campaign
from exportdiff.fuzzing.campaign.events import (
    CampaignFinished,
    CampaignStarted,
    Event,
    ExampleDone,
    FindingFound,
    FindingMinimized,
    FindingShrunk,
    FindingUnconfirmed,
    HarnessError,
    KnownSeen,
)
from exportdiff.fuzzing.campaign.example_queue import AHEAD
from exportdiff.fuzzing.campaign.own_errors import SAME_ERRORS, place_of
from exportdiff.fuzzing.campaign.schedule import paths_for
from exportdiff.fuzzing.campaign.settings import CampaignSettings
from exportdiff.fuzzing.campaign.triage import MAX_ATTEMPTS
from exportdiff.fuzzing.campaign.worker import ExampleResult, Job
from exportdiff.fuzzing.minimizing import Minimized
from exportdiff.judging.checks.outputs import OutputStructure
from exportdiff.judging.results import PathResult, Verdict
from exportdiff.known.attribution.classification import Classification
from exportdiff.known.attribution.explained import ExplainedFinding, KnownCause
from exportdiff.repro.confirm import Confirmation
from exportdiff.runtime.paths import core_paths, parse, select_paths
from support.fake_clock import FakeClock
from support.schemas import validator

NONSTRICT = select_paths(["nonstrict:*"])
UNFLATTEN = "nonstrict:unflatten@cpu"
DIES, HANGS, RAISES, EAGER_DIES = 5, 9, 11, 13


@dataclass(frozen=True)
class Named(OutputStructure):
    """Evidence that repro files can show, with a word of its own in the signature."""

    word: str = ""

    def words(self) -> tuple[str, ...]:
        return (self.word,)


def found(word: str, path: str = UNFLATTEN) -> Finding:
    return Finding(parse(path), "outputs", Named(0, "a list", "a tuple", word))


def source_of(job: Job, index: int) -> tuple[str, tuple[str, ...]]:
    # Later programs are shorter: there is something to shrink to.
    lines = "\n".join(["x = 1"] * max(1, 40 - index))
    return f"{lines}\ndef make():\n    return M(), ()\n# {index}\n", ("a.b", job.profile)


def work(job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    """Judge made-up programs: every third differs; some take the process down or never end."""
    results = []
    for index in indices:
        unflattens = any(path.runner == "unflatten" for path in job.paths)
        if index == EAGER_DIES or (index == DIES and unflattens):
            os.abort()
        if index == HANGS and unflattens:
            time.sleep(600)
        if index == RAISES:
            raise ZeroDivisionError("ours")
        source, tags = source_of(job, index)
        findings = (found("third"), found("third")) if index % 3 == 0 else ()
        paths = tuple(PathResult(path, "ok", outcome="agrees") for path in job.paths)
        verdict = Verdict(True, "", paths, findings, 0.001)
        results.append(ExampleResult(index, verdict, tags, source if findings else "", 0.01))
    return tuple(results)


def calm(job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    """Do the same without deaths, and slow enough to be interrupted."""
    time.sleep(0.02)
    return work(job, [index for index in indices if index not in (DIES, HANGS, RAISES, EAGER_DIES)])


def explained(job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    """Show in every program a finding that the corpus explains."""
    return tuple(
        replace(
            result, known=tuple(ExplainedFinding(f, (KnownCause("old"),)) for f in result.verdict.findings)
        )
        for result in calm(job, indices)
        if result.verdict is not None
    )


def slow_to_explain(job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    """Take longer to attribute findings to the corpus than an example may take."""
    results = explained(job, indices) if job.attribute else work(job, indices)
    if any(result.known for result in results):
        time.sleep(3)
    return results


def yes(source: str, **_how: object) -> Confirmation:
    return Confirmation(True, "BUG")


def no(source: str, **_how: object) -> Confirmation:
    return Confirmation(False, "ok")


def test_a_death_is_pinned_on_its_example_and_path() -> None:
    settings = CampaignSettings(NONSTRICT, examples=16, workers=2, profile="wide", example_seconds=3.0)
    events = list(Campaign(settings, work=work, source=source_of, confirm=yes).run())

    done = [event for event in events if isinstance(event, ExampleDone)]
    errors = [event for event in events if isinstance(event, HarnessError)]
    assert {error.example for error in errors} == {RAISES}
    assert [e.index for e in done] == [i for i in range(16) if i != RAISES]
    by_index = {event.index: event for event in done}
    assert not by_index[EAGER_DIES].valid
    assert by_index[EAGER_DIES].invalid_reason == "eager abort"
    for index, kind in ((DIES, "abort"), (HANGS, "hang")):
        assert {str(p.path): p.status for p in by_index[index].paths} == {
            "nonstrict:module@cpu": "ok",
            UNFLATTEN: "finding",
        }
        event = next(e for e in events if isinstance(e, FindingFound) and e.example == index)
        assert (event.finding.kind, str(event.finding.path)) == (kind, UNFLATTEN)
    # A program that killed its worker was drawn again, with the same profile.
    assert {event.tags for event in done} == {("a.b", "wide")}
    assert by_index[DIES].tags == ("a.b", "wide")
    assert isinstance(events[0], CampaignStarted)
    assert events[-1].as_dict()["reason"] == "examples"


def broken(job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    """Fail at one place of exportdiff for every example, each time with another message."""
    results = []
    for index in indices:
        try:
            parse(f"no path {index}")
        except ValueError as error:
            results.append(ExampleResult(index, None, error=str(error), error_place=place_of(error)))
    return tuple(results)


def broken_elsewhere(job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    """Fail for every example, each time at another place of exportdiff."""
    return tuple(
        replace(result, error_place=("ValueError", str(result.index))) for result in broken(job, indices)
    )


def test_the_same_error_of_exportdiff_ends_the_campaign() -> None:
    settings = CampaignSettings(NONSTRICT, examples=100, workers=1)
    events = list(Campaign(settings, work=broken, source=source_of, confirm=yes).run())
    errors = [event for event in events if isinstance(event, HarnessError)]
    assert len(errors) == SAME_ERRORS
    assert errors[0].place[0] == "ValueError"
    assert "parsing.py:" in errors[0].place[-1]
    assert len({error.traceback for error in errors}) == SAME_ERRORS
    assert events[-1].as_dict()["reason"] == "errors"


def test_a_command_that_ends_so_shows_the_error_and_exits_with_3(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(campaign_run, "Campaign", functools.partial(Campaign, work=broken, source=source_of))
    out = tmp_path / "out"
    assert main(["fuzz", "--examples", "40", "--workers", "1", "--minimize", "0", "--out", str(out)]) == 3
    printed = "".join(capsys.readouterr())
    assert "no path 0" in printed
    assert str(SAME_ERRORS) in printed
    summary = json.loads((out / "summary.json").read_text())
    assert summary["finished"] == "errors"
    validator("summary-1").validate(summary)


def test_different_errors_of_exportdiff_do_not_end_the_campaign() -> None:
    examples = 2 * SAME_ERRORS
    settings = CampaignSettings(NONSTRICT, examples=examples, workers=1)
    events = list(Campaign(settings, work=broken_elsewhere, source=source_of, confirm=yes).run())
    assert sum(isinstance(event, HarnessError) for event in events) == examples
    assert events[-1].as_dict()["reason"] == "examples"


def test_attribution_may_take_longer_than_an_example(tmp_path: pathlib.Path) -> None:
    settings = CampaignSettings(NONSTRICT, examples=4, workers=2, example_seconds=1.0, corpora=tmp_path)
    events = list(Campaign(settings, work=slow_to_explain, source=source_of, confirm=yes).run())
    assert not [event for event in events if isinstance(event, HarnessError | FindingFound)]
    done = {event.index: event for event in events if isinstance(event, ExampleDone)}
    assert [done[index].known for index in range(4)] == [("old",), (), (), ("old",)]


def masked_then_plain(job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    """Show in every program the same finding: before the sixth, only with a fix in place."""
    results = []
    for index in indices:
        one = found("third")
        classifications = {one.fingerprint: Classification("masked", ("mend_it",))} if index < 6 else {}
        verdict = Verdict(True, "", (), (one,), 0.001)
        results.append(
            ExampleResult(
                index, verdict, (), source_of(job, -index)[0], 0.01, classifications=classifications
            )
        )
    return tuple(results)


def with_a_fix(corpora: pathlib.Path) -> pathlib.Path:
    """Return a corpus with one fix, which fits no torch."""
    (corpora / "fixes").mkdir()
    patch = "mend it\n\n---\n--- a/torch/x.py\n+++ b/torch/x.py\n@@ -1 +1 @@\n-a\n+b\n"
    (corpora / "fixes" / "mend_it.patch").write_text(patch)
    return corpora


def test_a_masked_finding_is_confirmed_with_its_fixes(
    tmp_path: pathlib.Path,
) -> None:
    within: list[tuple[str, ...]] = []

    def confirm(source: str, **given: Any) -> Confirmation:
        fixes = given["within"].args[0] if given else ()
        within.append(tuple(fix.name for fix in fixes))
        assert ('# unmasked-by = ["mend_it"]' in source) == bool(fixes)
        return Confirmation(True, "BUG")

    settings = CampaignSettings(NONSTRICT, examples=8, corpora=with_a_fix(tmp_path))
    events = list(Campaign(settings, work=masked_then_plain, source=source_of, confirm=confirm).run())
    (first,) = [event for event in events if isinstance(event, FindingFound)]
    (better,) = [event for event in events if isinstance(event, FindingShrunk)]
    assert first.classification.kind == "masked" and first.as_dict()["standing"]["fixes"] == ("mend_it",)
    # Plain torch is easier to read about, even where the program is longer.
    assert better.classification.kind == "new" and better.example >= 6
    assert within == [("mend_it",), ()]


def timeless(events: Sequence[Event]) -> list[dict[str, object]]:
    return [
        {
            k: v
            for k, v in e.as_dict().items()
            if k not in ("at", "workers", "torch_seconds", "seconds", "fuzzing")
        }
        for e in events
    ]


def test_the_number_of_workers_does_not_change_the_events() -> None:
    one, two = [
        timeless(list(Campaign(CampaignSettings(NONSTRICT, seed=3, examples=6, workers=n)).run()))
        for n in (1, 2)
    ]
    assert one == two
    assert sum(e["event"] == "example_done" for e in one) == 6


def test_the_smallest_program_that_confirms_stands_for_a_finding() -> None:
    settings = CampaignSettings(NONSTRICT, examples=24)
    events = list(Campaign(settings, work=calm, source=source_of, confirm=yes).run())
    first = [event for event in events if isinstance(event, FindingFound)]
    assert [event.example for event in first] == [0]
    assert [event.example for event in events if isinstance(event, FindingShrunk)] == [21]


def halved(source: str, finding: Finding, **_how: object) -> Minimized:
    """Stand in for the minimizer: the same small program for whatever is found."""
    small = "class M:\n    y = 1\n\n\ndef make():\n    return M(), ()\n"
    return Minimized(small, finding, 7, 0.5, True, ((source, finding), (small, finding)))


def test_new_findings_are_minimized_at_the_end_and_get_their_final_fingerprint() -> None:
    settings = CampaignSettings(NONSTRICT, examples=4, minimize_seconds=1.0)
    campaign = Campaign(settings, work=calm, source=source_of, confirm=yes, minimize=halved)
    events = list(campaign.run())
    (event,) = (each for each in events if isinstance(each, FindingMinimized))
    assert events.index(event) == len(events) - 2
    assert (event.was, event.tried, event.seconds) == (found("third").fingerprint, 7, 0.5)
    assert event.finding.fingerprint != event.was
    assert event.finding.fingerprint in event.repro
    unconfirmed = Campaign(settings, work=calm, source=source_of, confirm=no, minimize=halved)
    assert not any(isinstance(event, FindingMinimized) for event in unconfirmed.run())


def test_what_does_not_confirm_is_tried_a_few_times_and_never_shown() -> None:
    settings = CampaignSettings(NONSTRICT, examples=24)
    events = list(Campaign(settings, work=calm, source=source_of, confirm=no).run())
    tried = [event for event in events if isinstance(event, FindingUnconfirmed)]
    assert len(tried) == MAX_ATTEMPTS
    assert not any(isinstance(event, FindingFound) for event in events)


def test_what_the_corpus_explains_is_counted_and_not_confirmed() -> None:
    settings = CampaignSettings(NONSTRICT, examples=4)
    events = list(Campaign(settings, work=explained, source=source_of, confirm=yes).run())
    assert not any(isinstance(event, FindingFound) for event in events)
    assert [(e.cause, e.example) for e in events if isinstance(e, KnownSeen)] == [("old", 0)]
    assert all(e.known in ((), ("old",)) for e in events if isinstance(e, ExampleDone))


def test_an_interruption_ends_it_cleanly() -> None:
    stop = threading.Event()
    settings = CampaignSettings(NONSTRICT, workers=1)
    campaign = Campaign(settings, stop=stop, work=calm, source=source_of, confirm=yes)
    events = []
    for event in campaign.run():
        events.append(event)
        if isinstance(event, ExampleDone) and event.index > 30:
            stop.set()
    assert isinstance(events[-1], CampaignFinished)
    assert events[-1].reason == "interrupted"


def test_a_time_limit_ends_it() -> None:
    settings = CampaignSettings(NONSTRICT, seconds=0.5)
    campaign = Campaign(settings, work=calm, source=source_of, confirm=yes)
    *_, last = campaign.run()
    assert isinstance(last, CampaignFinished)
    assert (last.reason, last.at < 20) == ("time", True)


def test_shards_are_disjoint_and_complete() -> None:
    shards = [list(CampaignSettings((), examples=11, shard=(i, 3)).indices()) for i in (1, 2, 3)]
    assert sorted(functools.reduce(operator.iadd, shards, [])) == list(range(11))
    assert shards[0] == [0, 3, 6, 9]


def test_expensive_paths_run_on_some_programs_only() -> None:
    every = core_paths()
    expensive = select_paths(["nonstrict+retie:*", "nonstrict+todevice:module"])
    modes = [{path.mode for path in paths_for(i, every)} for i in range(77)]
    assert [sum(mode in each for each in modes) for mode in ("nonstrict", "strict", "compile")] == [77, 7, 2]
    assert all(paths_for(i, expensive) == expensive for i in range(5))


def slow_first(job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    """Take two seconds for the first example and no time for the others; note when each was done."""
    results = []
    for index in indices:
        time.sleep(2.0 if index == 0 else 0.0)
        verdict = Verdict(True, "", (), (), 0.0)
        results.append(ExampleResult(index, verdict, (str(time.time()),)))
    return tuple(results)


def test_no_worker_waits_for_a_slow_example() -> None:
    settings = CampaignSettings(NONSTRICT, examples=240, workers=2)
    events = list(Campaign(settings, work=slow_first, source=source_of).run())
    done = [event for event in events if isinstance(event, ExampleDone)]
    assert [event.index for event in done] == list(range(240))
    first, *others = (float(event.tags[0]) for event in done)
    assert all(moment < first for moment in others)


def different_first(job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    """Show a finding in the first example; note when each was done."""
    results = []
    for index in indices:
        source, _ = source_of(job, index)
        verdict = Verdict(True, "", (), (found("first"),) if index == 0 else (), 0.0)
        results.append(ExampleResult(index, verdict, (str(time.time()),), source))
    return tuple(results)


def test_no_worker_waits_while_a_finding_is_confirmed() -> None:
    ended = []

    def slowly(source: str, **_how: object) -> Confirmation:
        time.sleep(3.0)
        ended.append(time.time())
        return yes(source)

    settings = CampaignSettings(NONSTRICT, examples=200, workers=1)
    events = list(Campaign(settings, work=different_first, source=source_of, confirm=slowly).run())
    done = [event for event in events if isinstance(event, ExampleDone)]
    assert [event.index for event in done] == list(range(200))
    assert len([event for event in events if isinstance(event, FindingFound)]) == 1
    meanwhile = [event for event in done if float(event.tags[0]) < ended[0]]
    assert len(meanwhile) > 2 * AHEAD


def endless(finished: pathlib.Path, job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    """Finish the second example, and never the others."""
    if indices[0] != 1:
        time.sleep(600)
    finished.touch()
    return tuple(ExampleResult(index, Verdict(True, "", (), (), 0.0)) for index in indices)


def test_the_time_limit_ends_a_campaign_and_keeps_what_is_done(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished = tmp_path / "finished"
    monkeypatch.setattr(clock, "time", FakeClock(after=finished))
    work = functools.partial(endless, finished)
    settings = CampaignSettings(NONSTRICT, seconds=4.0, workers=2)
    *_, last = events = list(Campaign(settings, work=work, source=source_of).run())
    done = [event.index for event in events if isinstance(event, ExampleDone)]
    assert done == [1]
    assert isinstance(last, CampaignFinished)
    assert last.reason == "time"
    assert last.given_up in (1, 2)  # 0; and 2, if its worker was free in time


def test_a_worker_frees_after_its_first_program_and_then_after_every_eighth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    freed = []

    @contextlib.contextmanager
    def clean_state(*, free: bool) -> Iterator[None]:
        freed.append(free)
        yield

    monkeypatch.setattr(worker, "clean_state", clean_state)
    monkeypatch.setattr(worker, "_run_example", lambda job, index, known: index)
    monkeypatch.setattr(worker._Unfreed, "programs", worker.FREE_EVERY - 1)
    job = worker.Job(seed=0, paths=NONSTRICT, plain=True)
    for index in range(17):
        worker.run_examples(job, (index,))
    assert [index for index, free in enumerate(freed) if free] == [0, 8, 16]

"""The schedule learns which exports show new findings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from exportdiff.core.errors import UsageError
from exportdiff.core.finding import Finding
from exportdiff.fuzzing.campaign.campaign import Campaign
from exportdiff.fuzzing.campaign.events import CampaignFinished
from exportdiff.fuzzing.campaign.learner import BLOCK, DELAY, Learner
from exportdiff.fuzzing.campaign.learning import LEAST, MOST, Yield, arm_of, earlier, factors_of
from exportdiff.fuzzing.campaign.schedule import base_of, paths_for
from exportdiff.fuzzing.campaign.settings import CampaignSettings
from exportdiff.fuzzing.campaign.worker import ExampleResult, Job
from exportdiff.interfaces.reports.folder import Folder
from exportdiff.interfaces.reports.learned_file import LearnedFile, read_learned
from exportdiff.judging.checks.alive import ALIVE, ProcessDied
from exportdiff.judging.results import PathResult, Verdict
from exportdiff.known.attribution.classification import Classification
from exportdiff.repro.confirm import Confirmation
from exportdiff.runtime.paths import all_paths, cost, parse

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence

RELOAD = parse("nonstrict+reload:module")
STRICT = parse("strict:module")
EVERY_PATH = tuple(path for path in all_paths() if cost(path) < 1000)


def result(index: int, reason: str = "", **named: object) -> ExampleResult:
    """Return the result of a program that ran on two paths, and has a finding on one of them."""
    findings = (Finding(RELOAD, ALIVE, ProcessDied("abort", reason)),) if reason else ()
    paths = (PathResult(RELOAD, "ok"), PathResult(STRICT, "ok"))
    return ExampleResult(index, Verdict(True, "", paths, findings, 0.0), **named)  # type: ignore[arg-type]  # the fields of ExampleResult


def work(job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    """Show another finding in every tenth program; its tags are the factors of the job."""
    return tuple(
        result(index, f"reason {index}" if index % 10 == 0 else "", tags=(json.dumps(dict(job.factors)),))
        for index in indices
    )


def no_answer(text: str) -> Confirmation:
    """Answer that a fresh process does not show the finding."""
    return Confirmation(False, "not run")


def campaign(workers: int, **named: object) -> Campaign:
    settings = CampaignSettings((RELOAD, STRICT), examples=BLOCK * (DELAY + 2), workers=workers, **named)  # type: ignore[arg-type]  # the fields of CampaignSettings
    return Campaign(settings, work=work, source=lambda job, index: ("", ()), confirm=no_answer)


def test_an_arm_that_finds_more_for_its_cost_runs_more_often() -> None:
    assert factors_of({}) == {}
    assert factors_of({"strict": Yield(1000)}) == {}
    factors = factors_of({"strict": Yield(1000, 0), "draft": Yield(1000, 40), "nonstrict": Yield(2000, 40)})
    assert LEAST <= factors["strict"] < 1 == factors["nonstrict"] < factors["draft"] <= MOST


def test_new_and_masked_findings_count_once_and_known_ones_and_regressions_do_not() -> None:
    learner = Learner({})
    learner.add(result(0, "first"))
    learner.add(result(1, "first"))
    found = result(2, "second")
    assert found.verdict is not None
    regression = {found.verdict.findings[0].fingerprint: Classification("regression")}
    learner.add(result(2, "second", classifications=regression))
    assert learner.yields["nonstrict+reload"] == Yield(3 * cost(RELOAD), 1)
    assert learner.yields["strict"] == Yield(3 * cost(STRICT), 0)


def test_blocks_wait_for_the_results_that_decide_about_them() -> None:
    learner = Learner({})
    assert learner.may_start(BLOCK * DELAY - 1) and not learner.may_start(BLOCK * DELAY)
    for index in range(BLOCK):
        learner.add(result(index, f"finding {index}"))
    learner.add(result(BLOCK))
    assert learner.factors(BLOCK * DELAY - 1) == {}
    assert learner.may_start(BLOCK * DELAY) and not learner.may_start(BLOCK * (DELAY + 1))
    assert learner.factors(BLOCK * DELAY)["nonstrict+reload"] > 1


@pytest.mark.parametrize("shards", [1, 3])
def test_the_blocks_of_a_shard_have_as_many_programs(shards: int) -> None:
    learner = Learner({}, shards)
    assert learner.may_start(shards * BLOCK * DELAY - 1)
    assert not learner.may_start(shards * BLOCK * DELAY)


def test_the_number_of_workers_does_not_change_what_is_learned() -> None:
    alone, together = (list(campaign(workers).run()) for workers in (1, 4))
    assert [getattr(each, "tags", ()) for each in alone] == [getattr(each, "tags", ()) for each in together]
    last = alone[-1]
    assert isinstance(last, CampaignFinished)
    assert last.learned["nonstrict+reload"].findings == BLOCK * (DELAY + 2) / 10
    factors = [json.loads(each.tags[0]) for each in alone if hasattr(each, "tags")]
    assert factors[0] == factors[BLOCK * DELAY - 1] == {}
    assert factors[-1]["nonstrict+reload"] > 1 > factors[-1]["strict"]


def test_a_campaign_starts_with_what_an_earlier_one_has_learned(tmp_path: pathlib.Path) -> None:
    folder = Folder(tmp_path)
    for event in campaign(2).run():
        LearnedFile(folder)(event)
    start = earlier(read_learned(folder.learned))
    assert start["nonstrict+reload"].findings == BLOCK * (DELAY + 2) / 20
    first = next(each for each in campaign(1, learned=start).run() if hasattr(each, "tags"))
    assert json.loads(first.tags[0])["nonstrict+reload"] > 1


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"format": 1, "arms": {"strict": {"cost": -1, "findings": 0}}}', '{"format": 2}'],
)
def test_another_file_is_a_usage_error(tmp_path: pathlib.Path, text: str) -> None:
    file = tmp_path / "learned.json"
    file.write_text(text)
    with pytest.raises(UsageError, match=r"learned\.json"):
        read_learned(file)


def test_factors_change_how_often_the_paths_of_an_arm_run() -> None:
    def runs(factor: float) -> int:
        factors = {arm_of(RELOAD): factor}
        return sum(RELOAD in paths_for(index, EVERY_PATH, factors=factors) for index in range(440))

    assert runs(1) == 40
    assert runs(4) > 3 * runs(1) and runs(0.25) < runs(1) / 3


def test_every_program_runs_on_some_path_and_a_third_on_the_base_paths() -> None:
    chosen = [paths_for(index, EVERY_PATH) for index in range(1000)]
    assert all(chosen)
    assert 250 < sum(bool(base_of(paths)) for paths in chosen) < 400
    assert all(base_of(paths) in ((), base_of(EVERY_PATH)) for paths in chosen)

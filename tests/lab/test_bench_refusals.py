"""``bench --only refusals``: which refusals count, which are wrong, and how it continues."""

from __future__ import annotations

import pathlib
from types import SimpleNamespace
from typing import cast

import pytest

from exportdiff.core.finding import Finding
from exportdiff.core.path import Path
from exportdiff.fuzzing.campaign.worker import Job
from exportdiff.judging.results import PathResult, Status, Verdict
from exportdiff.known.attribution.knowledge import Knowledge
from exportdiff.known.attribution.wrong_refusals import regressed
from exportdiff.lab.bench import refusals
from exportdiff.lab.bench.refusals import Judged, Records, Refused, Wrong, judge_batch, result_of
from exportdiff.runtime.patching.installed import installed
from exportdiff.runtime.paths import select_paths

PATHS = select_paths(["nonstrict:module", "nonstrict:unflatten", "strict:module"])
MODULE, UNFLATTEN, STRICT = PATHS


def verdict(*statuses: tuple[Status, str]) -> Verdict:
    """Return a verdict with these results; the reason of one that differs is its signature."""
    results = tuple(
        PathResult(path, status, reason, message=f"says {reason}")
        for path, (status, reason) in zip(PATHS, statuses, strict=True)
    )
    shown: dict[str, list[Path]] = {}
    for each in results:
        if each.status == "finding":
            shown.setdefault(each.reason, []).append(each.path)
    findings = [SimpleNamespace(signature=(reason,), shown_on=paths) for reason, paths in shown.items()]
    return Verdict(True, "", results, tuple(cast(list[Finding], findings)), 0.0)


def test_what_another_path_of_plain_torch_shows_is_no_fault_of_a_fix() -> None:
    known = cast(Knowledge, SimpleNamespace(usable=()))
    plain = verdict(("finding", "guard"), ("ok", ""), ("ok", ""))
    mended = verdict(("finding", "guard"), ("finding", "guard"), ("finding", "value"))
    assert [each.path for each in regressed(mended, plain, known)] == [STRICT]
    folded = verdict(("finding", "value"), ("finding", "value"), ("ok", ""))  # one finding on two paths
    assert [each.path for each in regressed(folded, plain, known)] == [UNFLATTEN]


def test_what_a_fix_refuses_runs_on_plain_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    mended = verdict(("unsupported", "a_fix"), ("finding", "value"), ("unsupported", "data-dependent"))
    plain = verdict(("ok", ""), ("ok", ""), ("unsupported", "data-dependent"))
    asked: list[object] = []

    def judge(case: object, paths: object, refused: object = None) -> Verdict:
        asked.append(paths)
        return plain if refused is None else mended

    known = SimpleNamespace(usable=("a_fix",), usable_fixes=())
    monkeypatch.setattr(refusals, "prepared", lambda job: known)
    monkeypatch.setattr(refusals, "judge_case", judge)
    (judged,) = judge_batch(Job(0, ()), (7,))
    assert installed() == frozenset()
    assert asked == [select_paths(refusals.PATHS[7 % len(refusals.PATHS)])] * 2
    assert [one.reason for one in judged.refused] == ["a_fix", "data-dependent"]
    assert judged.wrong == (Wrong(MODULE, "a_fix", "says a_fix"), Wrong(UNFLATTEN, "", "says value"))
    assert "def make()" in judged.source


def test_the_figures_are_shares_of_the_path_runs() -> None:
    done = [
        Judged(0, PATHS, (Refused(MODULE, "a_fix"),), (Wrong(MODULE, "a_fix", "no"),)),
        Judged(1, PATHS, (Refused(MODULE, "a_fix"), Refused(STRICT, "data-dependent"))),
        Judged(2),
        Judged(3, error="killed"),
    ]
    result = result_of(done, ["a_fix"])
    assert [figure.value for figure in result.figures] == [4, 50.0, 1, 0]
    assert result.figures[0].note == "1 were dropped; exportdiff failed on 1"
    assert result.tables[0].rows == (
        ("a_fix", "a fix", 2, "33.33 %"),
        ("data-dependent", "torch", 1, "16.67 %"),
    )
    assert result.tables[2].rows == ((0, "nonstrict:module", "a_fix", "no"),)
    assert result.exit_code == 1
    assert result_of(done[1:], ["a_fix"]).exit_code == 0
    assert result_of(done[2:], ["a_fix"]).exit_code == 2


def test_a_later_run_continues_after_the_file(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "programs" / "refusals.ndjson"
    records = Records(file)
    assert records.take() == (0, 1, 2, 3)
    records.add([Judged(0, PATHS), Judged(1), Judged(3)])
    with file.open("a") as out:
        out.write('{"data": "cut o')
    again = Records(file)
    assert again.done == [Judged(0, PATHS), Judged(1), Judged(3)]
    assert again.take() == (2, 4, 5, 6)

"""The default paths are those on which ordinary code shows bugs, and their rows fit on a screen."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from exportdiff.core.path import Path
from exportdiff.interfaces.checking.check_steps import Confirming, PathDone
from exportdiff.interfaces.checking.default_paths import BY_DEFAULT, DEPLOYED, default_paths
from exportdiff.interfaces.reports.path_rows import ROWS, PathRows
from exportdiff.interfaces.reports.text import TEXT_WIDTH
from exportdiff.judging.results import Outcome, PathResult, Status
from exportdiff.runtime.paths import is_listed, parse
from support.the_corpus import entries

COMPILE = ("compile", "aoti")
"""Modes that export nothing, or need a C++ compiler."""


NEARLY_ALL_FAIL = {
    # Every nn.Sequential.
    "nonstrict+deepcopy:module",
    "nonstrict+preserve+children:unflatten",
    "nonstrict+preserve+swap:unflatten",
    "nonstrict+preserve+swapped:module",
    # Every strict export keeps its weights in memory.
    "strict+freed:module",
    # Every model, and every model that multiplies matrices.
    "nonstrict+unflatten_first+deepcopy:module",
    "nonstrict+under_autocast:module",
}
"""Nearly every model fails on these paths, which few people deploy."""
NEEDS_A_PROCESS_GROUP = {"pipeline:scheduled"}
"""A process has one default process group, and it may be the user's."""


def test_they_are_the_paths_on_which_ordinary_code_shows_bugs() -> None:
    severity = {each.name: each.severity for each in entries()}
    shown = {parse(each.path) for each in entries() if severity.get(each.root) in ("A", "B") and each.path}
    expected = {each.without_device for each in shown if is_listed(each) and each.mode not in COMPILE}
    assert set(BY_DEFAULT) == expected - NEARLY_ALL_FAIL - NEEDS_A_PROCESS_GROUP
    assert set(DEPLOYED) < set(BY_DEFAULT) and len(BY_DEFAULT) == len(set(BY_DEFAULT))


def result(path: Path, outcome: Outcome, **more: object) -> PathResult:
    status: dict[Outcome, Status] = {"agrees": "ok", "differs": "finding", "refused": "unsupported"}
    return PathResult(path, status[outcome], outcome=outcome, **more)  # type: ignore[arg-type]


def printed(results: list[PathResult]) -> list[str]:
    text = io.StringIO()
    with PathRows(Console(file=text, width=160), [each.path for each in results]) as rows:
        for each in results:
            rows.on_step(PathDone(each))
    return text.getvalue().splitlines()


AGREE = [result(path, "agrees") for path in default_paths()]
LIMIT = ("other-metadata-is-static",)


@pytest.mark.parametrize(
    "results",
    [
        AGREE,
        [replace(each, excused=LIMIT) for each in AGREE],
        [result(each.path, "differs", excused=LIMIT) for each in AGREE],
        [result(each.path, "refused", reason="data-dependent") for each in AGREE],
        [*AGREE[:10], *(result(each.path, "differs", excused=LIMIT) for each in AGREE[10:])],
    ],
)
def test_each_takes_one_line_at_most(results: list[PathResult]) -> None:
    lines = printed(results)
    assert len(lines) <= len(results) + 1 and max(map(len, lines)) <= TEXT_WIDTH
    words = {word.strip(",") for line in lines for word in line.split()}
    assert set(BY_DEFAULT) <= words


def test_paths_that_agree_share_lines_and_the_others_have_rows() -> None:
    first, second, third, *others = AGREE
    named, differing = third.path.without_device, others[0].path.without_device
    once = replace(third, first_call_because="calls change model.calls")
    refused = result(second.path, "refused", reason="data-dependent")
    lines = printed([first, refused, once, result(others[0].path, "differs", excused=LIMIT), *others[1:]])
    assert [line.split() for line in lines[:2]] == [
        [second.path.without_device, "refused", "data-dependent"],
        [differing, "differs"],
    ]
    assert lines[2].startswith(f"{len(others)} paths agree with eager: {first.path.without_device}, ")
    assert f"1 path agrees with eager, first call only: {named}" in lines
    below = " ".join(" ".join(lines).split())
    assert below.endswith(f"documented, and not counted: other-metadata-is-static on {differing}")


def test_few_paths_have_a_row_each_and_devices_are_named_if_there_are_several() -> None:
    assert [line.split() for line in printed(AGREE[:ROWS])] == [
        [each.path.without_device, "agrees"] for each in AGREE[:ROWS]
    ]
    both = [result(replace(AGREE[0].path, device=device), "agrees") for device in ("cpu", "cuda")]
    assert [line.split()[0] for line in printed(both)] == ["nonstrict:module@cpu", "nonstrict:module@cuda"]


def test_the_paths_that_agree_come_before_the_findings() -> None:
    text = io.StringIO()
    with PathRows(Console(file=text), default_paths()) as rows:
        for each in AGREE:
            rows.on_step(PathDone(each))
        assert not text.getvalue()
        rows.on_step(Confirming(1))
        assert "32 paths agree with eager" in text.getvalue()

"""Plain data that is written as JSON comes back as it was, and nothing else is written or read."""

from __future__ import annotations

import json
import pathlib
from dataclasses import dataclass

import pytest

from exportdiff.core.finding import Relation
from exportdiff.core.path import Path
from exportdiff.core.plain_data import NotPlainError, dumps, loads
from exportdiff.fuzzing.campaign.worker import Job, run_examples
from exportdiff.runtime.paths import select_paths

VALUES: list[object] = [
    None,
    True,
    1,
    -0.0,
    1e308,
    "text\n\u2028",
    (),
    (1, ("a",)),
    [1],
    {"a": (1,), 2: None, (3, "b"): []},
    frozenset({"a", "b"}),
    pathlib.Path("a/b"),
    Relation.IN_CALL,
    Path("nonstrict", "module", ("decompose",), "cpu"),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_what_is_written_is_read(value: object) -> None:
    read = loads(dumps(value))
    assert read == value
    assert type(read) is type(value)
    assert "\n" not in dumps(value)


def test_infinities_and_nan_come_back() -> None:
    first, second, third = loads(dumps((float("inf"), float("-inf"), float("nan"))))
    assert (first, second) == (float("inf"), float("-inf"))
    assert third != third


def test_results_of_programs_come_back() -> None:
    results = run_examples(Job(0, select_paths(["nonstrict:*"])), range(8))
    assert any(result.verdict is not None and result.verdict.findings for result in results)
    for result in results:
        assert loads(dumps(result)) == result


@dataclass
class Ours:
    """Not of the package."""


class Exotic(int):
    """A subclass of what is plain."""


@pytest.mark.parametrize(
    "value", [Ours(), Exotic(1), int, print, ValueError()], ids=lambda value: type(value).__name__
)
def test_nothing_else_is_written(value: object) -> None:
    with pytest.raises(NotPlainError):
        dumps(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[1]",
        '{"data": "os:system", "fields": {"command": "true"}}',
        '{"data": "exportdiff.runtime.processes.in_child:call_fresh", "fields": {}}',
        '{"data": "exportdiff.core.path:Path", "fields": {"nothing": 1}}',
        '{"data": "exportdiff.nothing:Path", "fields": {}}',
        '{"enum": "exportdiff.core.finding:Relation", "value": "NOTHING"}',
        json.dumps({"of": "tuple"}),
    ],
)
def test_nothing_else_is_read(text: str) -> None:
    with pytest.raises(NotPlainError):
        loads(text)

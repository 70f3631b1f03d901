"""The rediscovery curve counts a root cause for the first program that shows it, and for no other."""

from __future__ import annotations

from pathlib import Path as File

import pytest

from harness.bench.first_shown import beyond, first_shown
from harness.bench.records import Record
from harness.bench.shape import Shape
from harness.case import case_from_source
from harness.judge.judge_case import judge_case
from harness.known.entry import CORPORA
from harness.paths import parse

NAMES = ("unflatten_separates_views", "unflatten_checks_no_guards")
PATHS = (parse("nonstrict:module"), parse("nonstrict:unflatten"))


def _record(index: int, stem: str) -> Record:
    source = next(CORPORA.rglob(f"{stem}.py")).read_text(encoding="utf-8")
    verdict = judge_case(case_from_source(source), PATHS)
    assert verdict.findings
    return Record(index, source, (), Shape(1, 1, 1, 1), {}, {}, {}, verdict.paths, verdict.findings)


@pytest.fixture(scope="module")
def records() -> list[Record]:
    first, second = NAMES
    return [_record(index, stem) for index, stem in enumerate((first, first, second, first))]


def test_each_root_cause_counts_once(records: list[Record]) -> None:
    shown = first_shown(records, File(CORPORA).resolve(), 2)
    assert NAMES[0] in shown[0]
    assert NAMES[1] in shown[2]
    assert sum(map(len, shown.values())) == len(frozenset().union(*shown.values()))


def test_what_is_known_is_gone_with_its_fix(records: list[Record]) -> None:
    corpora = File(CORPORA).resolve()
    every = beyond(records[0], corpora, frozenset())
    assert NAMES[0] in every
    assert beyond(records[0], corpora, every) == frozenset()
    # The fix of another bug leaves the finding in place.
    assert NAMES[0] in beyond(records[0], corpora, frozenset({NAMES[1]}))

"""The rediscovery curve counts a root cause for the first program that shows it, and for no other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path as File
from types import TracebackType
from typing import Self

import pytest

from exportdiff.core.case import case_from_source
from exportdiff.judging.judge_case import judge_case
from exportdiff.known.corpus.entry import CORPORA
from exportdiff.lab.bench import first_shown as module
from exportdiff.lab.bench.first_shown import beyond, first_shown
from exportdiff.lab.bench.records import Record
from exportdiff.lab.bench.shape import Shape
from exportdiff.runtime.paths import parse
from exportdiff.runtime.processes.child import Death

NAMES = ("unflatten_separates_views", "unflatten_merges_calls_of_other_variants")
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
    assert NAMES[0] in shown.roots[0]
    assert NAMES[1] in shown.roots[2]
    assert sum(map(len, shown.roots.values())) == len(frozenset().union(*shown.roots.values()))
    assert shown.programs == len(records) and not shown.interrupted


def test_what_is_known_is_gone_with_its_fix(records: list[Record]) -> None:
    corpora = File(CORPORA).resolve()
    every = beyond(records[0], corpora, frozenset())
    assert NAMES[0] in every
    assert beyond(records[0], corpora, every) == frozenset()
    # The fix of another bug leaves the finding in place.
    assert NAMES[0] in beyond(records[0], corpora, frozenset({NAMES[1]}))


class _Child:
    """Answers as a child process that attributes would: program 1 takes too long, 3 is interrupted."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        pass

    def ask(self, seconds: float, function: object, record: Record, *rest: object, stop: object) -> object:
        if record.index == 3:
            raise KeyboardInterrupt
        return Death("hang", "no answer") if record.index == 1 else frozenset({f"root {record.index}"})


def test_an_interrupted_search_keeps_what_comes_before_the_first_program_left(
    records: list[Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ReusableWorker", _Child)
    judged = [replace(records[0], index=index) for index in range(5)]
    judged.insert(0, replace(records[0], index=-1, findings=()))
    shown = first_shown(judged, File(CORPORA), 1)
    assert shown.interrupted
    assert [record.index for record in judged[: shown.programs]] == [-1, 0, 1, 2]
    assert shown.roots == {0: {"root 0"}, 2: {"root 2"}}

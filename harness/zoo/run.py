"""Judges all models of the zoo, on several processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from harness.engine.postmortem import post_mortem
from harness.equivalence.deployed import deployed_paths
from harness.judge.results import PathResult, Verdict
from harness.known.explained import Explained
from harness.processes.child import Death, Failure
from harness.processes.pool import Workers
from harness.zoo.judging import Confirmed, NotBuilt, confirm_and_explain, judge_model
from harness.zoo.row import Row
from harness.zoo.rows import row_of

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Iterator

    from harness.path import Path
    from harness.processes.pool import Task

T = TypeVar("T")


@dataclass(frozen=True)
class Settings:
    """What is the same for all models."""

    corpora: pathlib.Path
    limit: float
    """Seconds for each judgement of one model; the search for causes has as much again, in CPU."""
    workers: int = 1
    paths: Sequence[Path] = deployed_paths()


@dataclass(frozen=True)
class Judged:
    """The row of one model, and remarks for the person who made it."""

    row: Row
    remarks: tuple[str, ...] = ()


def judge_all(names: Sequence[str], settings: Settings) -> Iterator[Judged]:
    """Yield the row of each model: first those without findings, as they are ready, then the others.

    Raises what exportdiff itself fails with.
    """
    with Workers(settings.workers, tasks_each=1) as pool:
        first = [pool.submit(settings.limit, judge_model, name, settings.paths) for name in names]
        explaining: list[_Explaining] = []
        for name, task in zip(names, first, strict=True):
            answer = _answer(task)
            ready = _after_judging(name, answer, settings, pool)
            if isinstance(ready, Judged):
                yield ready
            else:
                explaining.append(ready)
        for each in explaining:
            yield each.finished()


@dataclass(frozen=True)
class _Explaining:
    """A model with findings, which a child confirms and explains."""

    name: str
    verdict: Verdict
    dead: tuple[Explained, ...]
    """The findings that a process ended: nothing explains these but notes."""
    task: Task[Confirmed]

    def finished(self) -> Judged:
        answer = _answer(self.task)
        if isinstance(answer, Death):
            parts = (*map(Explained, self.verdict.findings), *self.dead)
            return Judged(row_of(self.name, self.verdict, parts), (f"explaining ended: {answer.reason}",))
        remarks = [part.remark for part in answer.parts if part.remark]
        if answer.dropped:
            remarks.append(f"{answer.dropped} finding(s) did not show in a second process")
        return Judged(row_of(self.name, self.verdict, (*answer.parts, *self.dead)), tuple(remarks))


def _after_judging(
    name: str, answer: Verdict | NotBuilt | Death, settings: Settings, pool: Workers
) -> Judged | _Explaining:
    if isinstance(answer, NotBuilt):
        return Judged(Row(name, not_judged=f"cannot be built: {answer.reason}"))
    dead: tuple[Explained, ...] = ()
    if isinstance(answer, Death):
        verdict, dead = _one_by_one(name, settings, pool)
        if verdict is None:
            return Judged(Row(name, not_judged=f"eager alone ends its process: {answer.reason}"))
        answer = verdict
    if not answer.valid or not answer.findings:
        return Judged(row_of(name, answer, dead))
    # Only the paths that a process survives.
    alive = tuple(
        each.path for each in answer.paths if not any(each.path in d.finding.shown_on for d in dead)
    )
    task = pool.submit(
        2 * settings.limit, confirm_and_explain, name, answer, alive, settings.corpora, settings.limit
    )
    return _Explaining(name, answer, dead, task)


def _one_by_one(name: str, settings: Settings, pool: Workers) -> tuple[Verdict | None, tuple[Explained, ...]]:
    """Judge each path in a process of its own; no verdict where eager alone ends its process."""
    found = post_mortem(partial(_judge_now, pool, settings.limit, name), settings.paths)
    if found.eager is not None:
        return None, ()
    results: list[PathResult] = []
    for path in settings.paths:
        if path in found.deaths:
            results.append(PathResult(path, "finding", found.deaths[path].reason))
            continue
        if not found.alive[path].valid:
            return found.alive[path], ()
        results += found.alive[path].paths
    findings = tuple(finding for each in found.alive.values() for finding in each.findings)
    seconds = sum(each.torch_seconds for each in found.alive.values())
    return Verdict(True, "", tuple(results), findings, seconds), tuple(map(Explained, found.findings))


def _judge_now(pool: Workers, limit: float, name: str, paths: tuple[Path, ...]) -> Verdict | Death:
    answer = _answer(pool.submit(limit, judge_model, name, paths))
    if isinstance(answer, NotBuilt):
        return Verdict(False, f"cannot be built: {answer.reason}", (), (), 0.0)
    return answer


def _answer(task: Task[T]) -> T | Death:
    answer = task.wait()
    if isinstance(answer, Failure):
        raise answer.error
    return answer

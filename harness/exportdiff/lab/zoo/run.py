"""Judges all models of the zoo, several at a time, each as ``exportdiff check`` judges one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from queue import SimpleQueue
from threading import Event
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError
from exportdiff.interfaces.checking.in_subprocess import LoadableModel, judge_in_subprocess
from exportdiff.lab.zoo.notes import explain
from exportdiff.lab.zoo.row import ModelRow
from exportdiff.lab.zoo.rows import row_of
from exportdiff.lab.zoo.screening import screen
from exportdiff.lab.zoo.sources import load_model, source_of
from exportdiff.runtime.paths import parse
from exportdiff.runtime.processes.in_child import call_fresh
from exportdiff.runtime.processes.server import server

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Iterator

    from exportdiff.core.path import Path


@dataclass(frozen=True)
class ZooSettings:
    """What is the same for all models."""

    corpora: pathlib.Path
    limit: float
    """Seconds for one model, the search for causes included."""
    workers: int = 1
    paths: Sequence[Path] = ()
    """Empty: those of the source."""


@dataclass(frozen=True)
class JudgedModel:
    """The row of one model, and remarks for the console."""

    row: ModelRow
    remarks: tuple[str, ...] = ()


def judge_all(names: Sequence[str], settings: ZooSettings) -> Iterator[JudgedModel]:
    """Yield the row of each model as soon as it is ready. Raises what exportdiff itself fails with."""
    server()  # start it here: the threads would all start it at once
    stop = Event()
    ready: SimpleQueue[JudgedModel | Future[None]] = SimpleQueue()
    with ThreadPoolExecutor(settings.workers) as threads:
        try:
            left = 0
            for batch in _batches(names):
                threads.submit(_batch, batch, settings, stop, ready.put).add_done_callback(ready.put)
                left += 1
            while left:
                each = ready.get()
                if isinstance(each, JudgedModel):
                    yield each
                else:
                    left -= 1
                    each.result()
        finally:
            stop.set()
            threads.shutdown(cancel_futures=True)


def _batches(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the names in groups that one process can judge."""
    for source, own in groupby(names, source_of):
        of_source = tuple(own)
        for start in range(0, len(of_source), source.batch):
            yield of_source[start : start + source.batch]


def _batch(
    names: Sequence[str], settings: ZooSettings, stop: Event, put: Callable[[JudgedModel], None]
) -> None:
    """Judge models of one source together, and each that shows something in a process of its own.

    ``put`` gets each row as soon as it is ready.
    """
    alone: list[str] = []
    left = list(names)
    while left and len(names) > 1:
        paths = _paths(left[0], settings)
        answer = call_fresh(settings.limit, screen, left, paths, settings.corpora, settings.limit, stop=stop)
        if not isinstance(answer, Mapping) or not answer:
            break
        for name, row in answer.items():
            if row is None:
                alone.append(name)
            else:
                put(JudgedModel(row))
        left = [name for name in left if name not in answer]
    for name in (*alone, *left):
        put(_judged(name, settings, stop))


def _paths(name: str, settings: ZooSettings) -> tuple[Path, ...]:
    return tuple(settings.paths) or tuple(map(parse, source_of(name).usable_paths))


def _judged(name: str, settings: ZooSettings, stop: Event) -> JudgedModel:
    subject = LoadableModel(name, partial(load_model, name))
    try:
        report = judge_in_subprocess(
            subject,
            _paths(name, settings),
            seconds=settings.limit,
            corpora=settings.corpora,
            searches=lambda finding: not explain(name, finding),
            stop=stop,
        )
    except UsageError as error:
        return JudgedModel(ModelRow(name, not_judged=str(error)))
    remarks = list(dict.fromkeys(each.remark for each in report.found if each.remark))
    if report.unconfirmed:
        remarks.append(f"{report.unconfirmed} finding(s) did not show in a second process")
    return JudgedModel(row_of(report), tuple(remarks))

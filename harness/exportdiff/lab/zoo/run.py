"""Judges all models of the zoo, several at a time, each as ``exportdiff check`` judges one."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError
from exportdiff.interfaces.checking.default_paths import deployed_paths
from exportdiff.interfaces.checking.in_subprocess import LoadableModel, judge_in_subprocess
from exportdiff.lab.zoo.row import ModelRow
from exportdiff.lab.zoo.rows import row_of
from exportdiff.lab.zoo.sources import load_model
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
    paths: Sequence[Path] = deployed_paths()


@dataclass(frozen=True)
class JudgedModel:
    """The row of one model, and remarks for the console."""

    row: ModelRow
    remarks: tuple[str, ...] = ()


def judge_all(names: Sequence[str], settings: ZooSettings) -> Iterator[JudgedModel]:
    """Yield the row of each model as soon as it is ready. Raises what exportdiff itself fails with."""
    server()  # start it here: the threads would all start it at once
    stop = Event()
    with ThreadPoolExecutor(settings.workers) as threads:
        rows = [threads.submit(_judged, name, settings, stop) for name in names]
        try:
            for row in as_completed(rows):
                yield row.result()
        finally:
            stop.set()
            threads.shutdown(cancel_futures=True)


def _judged(name: str, settings: ZooSettings, stop: Event) -> JudgedModel:
    subject = LoadableModel(name, partial(load_model, name))
    try:
        report = judge_in_subprocess(
            subject, settings.paths, seconds=settings.limit, corpora=settings.corpora, stop=stop
        )
    except UsageError as error:
        return JudgedModel(ModelRow(name, not_judged=str(error)))
    remarks = list(dict.fromkeys(each.remark for each in report.found if each.remark))
    if report.unconfirmed:
        remarks.append(f"{report.unconfirmed} finding(s) did not show in a second process")
    return JudgedModel(row_of(report), tuple(remarks))

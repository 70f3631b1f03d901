"""Programs a second as a user sees them, CPU per program by stage, and the share of torch in it."""

from __future__ import annotations

import time
from statistics import mean
from threading import Event, Timer
from typing import TYPE_CHECKING

from exportdiff.fuzzing.campaign.campaign import Campaign
from exportdiff.fuzzing.campaign.events import ExampleDone
from exportdiff.fuzzing.campaign.settings import CampaignSettings
from exportdiff.fuzzing.minimizing import NotShownError, minimize
from exportdiff.lab.bench.figures import Figure, Result, Rows, spread
from exportdiff.lab.bench.stage_clock import ATTRIBUTE, STAGES, TORCH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exportdiff.lab.bench.context import Context
    from exportdiff.lab.bench.records import Record

TOTAL_OVER_TORCH = 1.3
LATEST = 2
"""A campaign is stopped when it takes this many times its time limit."""


def measure(context: Context) -> Result:
    """Measure the default paths and ``nonstrict:*``."""
    named = {"default paths": context.attributed.records, "nonstrict:*": context.nonstrict.records}
    figures = [_speed(context)]
    for name, records in named.items():
        if records:
            each = Figure(
                f"CPU per program, {name}",
                1000 * mean(one.cpu for one in records),
                "ms",
                spread=spread(records, lambda some: 1000 * mean(one.cpu for one in some)),
                note=f"{len(records)} programs, without attribution",
            )
            over = Figure(
                f"total over torch's own time, {name}",
                over_torch(records),
                "x",
                f"<= {TOTAL_OVER_TORCH}",
                spread(records, over_torch),
            )
            figures += [each, over]
    attributed = [record.stages.get(ATTRIBUTE, 0.0) for record in named["default paths"]]
    if attributed and context.corpora is not None:
        share = sum(attributed) / (sum(attributed) + sum(one.cpu for one in named["default paths"]))
        figures.append(Figure("attribution of every program", 100 * share, "% of CPU"))
    figures.append(_minimizing(context))
    return Result(
        tuple(figures), (_table(named),), {"lost": context.attributed.lost + context.nonstrict.lost}
    )


def over_torch(records: Sequence[Record]) -> float:
    """Return all CPU time of judging over the part of it that torch takes."""
    torch = sum(record.stages.get(stage, 0.0) for record in records for stage in TORCH)
    return sum(record.cpu for record in records) / torch if torch else float("nan")


def _table(named: dict[str, tuple[Record, ...]]) -> Rows:
    rows = [
        (stage, *(f"{_per_program(records, stage):.1f}" for records in named.values())) for stage in STAGES
    ]
    return Rows("CPU by stage, ms per program", ("stage", *named), tuple(rows))


def _per_program(records: Sequence[Record], stage: str) -> float:
    return 1000 * sum(record.stages.get(stage, 0.0) for record in records) / max(len(records), 1)


def _speed(context: Context) -> Figure:
    """Run a campaign as ``exportdiff fuzz`` does, without minimizing."""
    settings = CampaignSettings(
        context.default_paths,
        context.seed,
        seconds=context.scale.campaign_seconds,
        workers=context.workers,
        corpora=context.corpora,
    )
    stop = Event()
    timer = Timer(LATEST * context.scale.campaign_seconds, stop.set)
    timer.daemon = True
    timer.start()
    since = time.monotonic()
    programs = sum(isinstance(event, ExampleDone) for event in Campaign(settings, stop=stop).run())
    seconds = time.monotonic() - since
    timer.cancel()
    return Figure(
        "programs a second, default paths",
        programs / seconds,
        "/s",
        ">= 10 on 2 cores",
        note=f"fuzz --time {context.scale.campaign_seconds:g}s on {context.workers} workers: "
        f"{programs} programs in {seconds:.0f} s, start-up and end included",
    )


def _minimizing(context: Context) -> Figure:
    name = "minimizing one finding"
    for record in context.attributed.records:
        if record.findings:
            try:
                answer = minimize(record.source, record.findings[0], seconds=context.scale.minimize_seconds)
            except NotShownError:
                continue
            done = "finished" if answer.finished else "stopped at its limit"
            return Figure(name, answer.seconds, "s", note=f"wall, one core, {answer.tried} tried, {done}")
    return Figure(name, None, note="no program shows a finding")

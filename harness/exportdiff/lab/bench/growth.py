"""How cost grows: CPU with the size of programs, memory with their number, speed with workers."""

from __future__ import annotations

import gc
import os
import pathlib
import time
from typing import TYPE_CHECKING

import numpy as np

from exportdiff.fuzzing.campaign.campaign import Campaign
from exportdiff.fuzzing.campaign.events import ExampleDone
from exportdiff.fuzzing.campaign.settings import CampaignSettings
from exportdiff.fuzzing.campaign.worker import Job, run_examples
from exportdiff.lab.bench.figures import Figure, Result
from exportdiff.lab.bench.records import warm_up
from exportdiff.runtime.processes.child import Death, TaskFailure
from exportdiff.runtime.processes.in_child import ReusableWorker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exportdiff.lab.bench.context import Context
    from exportdiff.lab.bench.records import Record

BATCH = 8
SECONDS = 600.0
MEGABYTE = 1 << 20
UNLIMITED = 1 << 20
"""MiB that no process takes."""
FEW = 20
"""With fewer programs no slope is fitted."""
Sizes = list[tuple[int, float]]


def measure(context: Context) -> Result:
    """Measure all three."""
    sizes = _memory(context)
    figures = (*_slopes(context.default.records), *_memory_figures(sizes), *_scaling(context))
    return Result(figures, data={"memory_mb": sizes})


def _slopes(records: Sequence[Record]) -> list[Figure]:
    """Fit CPU against each size alone, in a log-log scale: a slope of 1 is linear growth."""
    sizes = {
        "statements": [record.shape.statements for record in records],
        "calls": [record.shape.calls for record in records],
        "depth": [record.shape.depth for record in records],
        "paths": [len(record.paths) for record in records],
    }
    figures = []
    for name, values in sizes.items():
        exponent = exponent_of(values, [record.cpu for record in records])
        note = "CPU ~ size^exponent, over programs" if exponent is not None else "too few programs"
        figures.append(Figure(f"growth of CPU with {name}", exponent, "exponent", "<= 1", note=note))
    return figures


def exponent_of(sizes: Sequence[float], seconds: Sequence[float]) -> float | None:
    """Return the slope of log(seconds) over log(1 + size); None where the sizes do not vary."""
    if len(sizes) < FEW or len(set(sizes)) < 2:
        return None
    return float(np.polyfit(np.log1p(sizes), np.log(seconds), 1)[0])


def _memory(context: Context) -> Sizes:
    """Judge many programs in one process; return (programs, megabytes) after each batch."""
    job = Job(context.seed, context.nonstrict_paths)
    sizes: Sizes = []
    # Never replaced for its growth, as the workers of a campaign are: that is what is measured.
    with ReusableWorker(growth=UNLIMITED) as child:
        for start in range(0, context.scale.memory_programs, BATCH):
            answer = child.ask(SECONDS, _judge_and_weigh, job, tuple(range(start, start + BATCH)))
            if isinstance(answer, Death | TaskFailure):
                break
            sizes.append((start + BATCH, round(answer, 1)))
    return sizes


def _judge_and_weigh(job: Job, indices: tuple[int, ...]) -> float:
    """Judge some programs, and return the megabytes of memory of this process alone."""
    gc.disable()
    warm_up(job.paths)
    run_examples(job, indices)
    return _own_bytes() / MEGABYTE


def _own_bytes() -> int:
    """Return the resident bytes of this process without the pages that it shares with others, on Linux."""
    try:
        _, resident, shared, *_ = pathlib.Path("/proc/self/statm").read_text().split()
    except OSError:
        return 0
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


def _memory_figures(sizes: Sizes) -> list[Figure]:
    """Compare the last quarter of the run with the second one; the first fills caches."""
    if len(sizes) < 8:
        return [Figure("memory of a worker, MB per 1000 programs", None, note="too few programs")]
    later = sizes[len(sizes) // 4 :]
    slope = float(np.polyfit([count for count, _ in later], [size for _, size in later], 1)[0])
    last, programs = sizes[-1][1], sizes[-1][0]
    return [
        Figure("memory of a worker at the end", last, "MB", note=f"after {programs} programs"),
        Figure("memory growth per 1000 programs", 1000 * slope, "MB", "about 0", note="last three quarters"),
    ]


def _scaling(context: Context) -> list[Figure]:
    name = "2 workers against 1"
    if context.workers < 2:
        return [Figure(name, None, wanted=">= 1.85", note="the benchmark runs on one worker")]
    one, two = _rate(context, 1), _rate(context, 2)
    note = "programs a second, nonstrict:*, mended torch; other programs on the machine lower it"
    return [Figure(name, two / one, "x", ">= 1.85", note=note)]


def _rate(context: Context, workers: int) -> float:
    """Return the programs a second; the first and the last, when a worker waits, do not count."""
    settings = CampaignSettings(
        context.nonstrict_paths,
        context.seed,
        examples=context.scale.scaling_programs,
        workers=workers,
        corpora=context.corpora,
        known_every=0,
        minimize_seconds=0.0,
    )
    ends = [time.monotonic() for event in Campaign(settings).run() if isinstance(event, ExampleDone)]
    apart = BATCH * workers
    ends = ends[apart - 1 : 1 - apart]
    return (len(ends) - 1) / (ends[-1] - ends[0])

"""Planted faults: how many of them blind fuzzing notices, and how soon."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from exportdiff.fuzzing.campaign.worker import Job
from exportdiff.lab.bench.figures import Figure, Result
from exportdiff.lab.faults import FAULTS
from exportdiff.lab.faults.detection import DetectionSettings, detect_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exportdiff.lab.bench.context import Context


def measure(context: Context) -> Result:
    """Fuzz with each fault of the sample planted, for a fixed time on one core each."""
    scale = context.scale
    names = sample(list(FAULTS), scale.faults)
    settings = DetectionSettings(Job(context.seed, context.default_paths), scale.fault_seconds)
    found = list(detect_all(names, settings, context.workers))
    seconds = [each.seconds for each in found if each.findings]
    note = f"{len(seconds)} of {len(names)} faults in {scale.fault_seconds:g} s each"
    if len(names) < len(FAULTS):
        note += f", a sample of {len(FAULTS)}: only a rough sign"
    figures = (
        Figure("planted faults noticed", 100 * len(seconds) / len(names), "%", ">= 89.6 in 60 s", note=note),
        Figure(
            "median seconds to notice", median(seconds) if seconds else None, "s", note="of those noticed"
        ),
    )
    data = {
        "faults": {
            each.fault: [bool(each.findings), each.programs, round(each.seconds, 2)] for each in found
        },
        "errors": [error for each in found for error in each.errors],
    }
    return Result(figures, data=data)


def sample(names: Sequence[str], size: int) -> list[str]:
    """Return ``size`` names spread evenly over the list; the same ones every time."""
    if size >= len(names):
        return list(names)
    return [names[number * len(names) // size] for number in range(size)]

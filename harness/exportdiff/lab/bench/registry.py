"""The list of measurements, in the order in which they run. One entry adds a measurement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.lab.bench import (
    bare_loop,
    edits,
    first_minute,
    growth,
    one_model,
    places,
    planted,
    reach,
    rediscovery,
    refusals,
    stages,
    thirds,
    yields,
)
from exportdiff.lab.bench.gpu import measure as gpu

if TYPE_CHECKING:
    from collections.abc import Callable

    from exportdiff.lab.bench.context import Context
    from exportdiff.lab.bench.figures import Result


@dataclass(frozen=True)
class Measurement:
    """One question about exportdiff, and the function that answers it."""

    name: str
    question: str
    measure: Callable[[Context], Result]
    on_request: bool = False
    """Whether it runs only if ``--only`` names it."""


MEASUREMENTS: tuple[Measurement, ...] = (
    Measurement("stages", "what does a program cost?", stages.measure),
    Measurement("minute", "what does the first minute of a campaign give?", first_minute.measure),
    Measurement("bare", "how much more than a loop that only exports and compares?", bare_loop.measure),
    Measurement("models", "what does one model of a user cost?", one_model.measure),
    Measurement("rediscovery", "how soon are the known bugs found again?", rediscovery.measure),
    Measurement("faults", "are planted bugs noticed?", planted.measure),
    Measurement("places", "does a finding name the right place?", places.measure),
    Measurement("growth", "how do cost and memory grow?", growth.measure),
    Measurement("coverage", "how much of torch.export is run?", reach.measure),
    Measurement("yield", "where does CPU pay?", yields.measure),
    Measurement("refusals", "what do fixes refuse, and rightly?", refusals.measure, on_request=True),
    Measurement("edits", "what does an edit of torch break?", edits.measure, on_request=True),
    Measurement("thirds", "how much sooner does learning find bugs?", thirds.measure, on_request=True),
    Measurement("gpu", "what does a GPU show that the CPU does not?", gpu.measure, on_request=True),
)

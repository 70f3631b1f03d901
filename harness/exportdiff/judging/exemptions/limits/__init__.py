"""The table of documented limits: torch runs the model, and says that it does not do as eager does.

A difference that a limit covers is counted and is not a finding. See ``refusals`` for models that torch
refuses.
"""

from __future__ import annotations

from exportdiff.judging.exemptions.limits import (
    aot_autograd,
    dynamo,
    exporting,
    inference,
    pipelines,
    replacing,
    state,
)
from exportdiff.judging.exemptions.limits.limit import Comparison, Limit

LIMITS: tuple[Limit, ...] = (
    *state.LIMITS,
    *exporting.LIMITS,
    *inference.LIMITS,
    *aot_autograd.LIMITS,
    *dynamo.LIMITS,
    *pipelines.LIMITS,
    *replacing.LIMITS,
)
"""In the order in which they are asked: the first one that covers a difference gives its name."""


__all__ = ["LIMITS", "Comparison", "Limit"]

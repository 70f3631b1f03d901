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


def limit_for(compared: Comparison) -> Limit | None:
    """Return the first limit that covers a difference; None if it is a finding."""
    compiles = compared.path.mode == "compile"
    limits = [limit for limit in LIMITS if limit.everywhere or not compiles]
    return next((limit for limit in limits if limit.covers(compared)), None)


__all__ = ["LIMITS", "Comparison", "Limit", "limit_for"]

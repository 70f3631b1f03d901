"""The table of documented limits: ways in which torch.export says that it does not do as eager does.

What one of them covers is counted and is no finding. Models that export refuses altogether are in
judging/documented_refusals.py.
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
"""In the order in which they are asked: the first that covers a difference gives its name."""


def limit_for(compared: Comparison) -> Limit | None:
    """Return the documented limit that a difference is, if it is one."""
    compiles = compared.path.mode == "compile"
    limits = [limit for limit in LIMITS if limit.everywhere or not compiles]
    return next((limit for limit in limits if limit.covers(compared)), None)


__all__ = ["LIMITS", "Comparison", "Limit", "limit_for"]

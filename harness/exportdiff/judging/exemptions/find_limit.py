"""Finds the documented limit that covers a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.judging.exemptions import of_backends
from exportdiff.judging.exemptions.backend import backend_of
from exportdiff.judging.exemptions.limits import LIMITS

if TYPE_CHECKING:
    from exportdiff.judging.exemptions.limits import Comparison, Limit


def limit_for(compared: Comparison) -> Limit | None:
    """Return the first limit that covers a difference; None if it is a finding."""
    backend = backend_of(compared.path)
    of_backend = () if backend is None else (*of_backends.LIMITS, *backend.limits)
    compiles = compared.path.mode == "compile"
    limits = [limit for limit in (*LIMITS, *of_backend) if limit.everywhere or not compiles]
    return next((limit for limit in limits if limit.covers(compared)), None)

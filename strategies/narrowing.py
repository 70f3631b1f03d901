"""Shrinking the swarm: the fewest features that still give what one is looking for.

Hypothesis shrinks the choices of one example, and a choice that goes takes the meaning of all later ones with
it. With fewer features there are fewer choices to begin with, so that narrowing comes before shrinking.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from strategies.program import Program
from strategies.seeds import stream


def narrow(features: frozenset[str], wanted: Callable[[Program], bool], tries: int = 120) -> frozenset[str]:
    """Leave out one feature after the other, as long as one of ``tries`` programs is still ``wanted``.

    Deterministic; the result shrinks further by ``hypothesis.find(programs(features=...), wanted)``.
    """
    for feature in sorted(features):
        fewer = features - {feature}
        if any(map(wanted, islice(stream(fewer), tries))):
            features = fewer
    return features

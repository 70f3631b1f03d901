"""Reducing the set of switches: the fewest that still give a wanted Program.

Hypothesis shrinks the choices of one example, and removing one choice changes the meaning of all later ones.
With fewer switches there are fewer choices, so narrowing comes before shrinking.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from exportdiff_strategies.program import Program
from exportdiff_strategies.seeds import stream


def narrow(switches: frozenset[str], wanted: Callable[[Program], bool], tries: int = 120) -> frozenset[str]:
    """Leave out one switch after the other, as long as one of ``tries`` programs is still ``wanted``.

    The result is deterministic. ``hypothesis.find(programs(switches=...), wanted)`` shrinks further.
    """
    for switch in sorted(switches):
        fewer = switches - {switch}
        if any(map(wanted, islice(stream(fewer), tries))):
            switches = fewer
    return switches

"""CPU time by path, measured at the places where the judge takes the observation of the next path."""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from exportdiff.judging import verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from exportdiff.core.path import Path
    from exportdiff.runtime.observing.observation import Observation


NAME = "observe_paths"
"""The function as the judge's module knows it."""


class PathClock:
    """Adds up the CPU seconds of observing and judging each path.

    Paths that share an export share its cost: the first of them pays for it. ``observe_eager`` before the
    paths is not counted here.
    """

    def __init__(self) -> None:
        """Start at zero."""
        self.cpu: defaultdict[Path, float] = defaultdict(float)

    @contextlib.contextmanager
    def attached(self) -> Iterator[None]:
        """Measure while the block runs."""
        before: Callable[..., Iterator[Observation]] = getattr(verdict, NAME)

        def measured(case: Any, paths: Sequence[Path], clock: Any) -> Iterator[Observation]:
            since = time.process_time()
            for observation in before(case, paths, clock):
                yield observation
                # The judge takes the next one when it has judged this one.
                now = time.process_time()
                self.cpu[observation.path] += now - since
                since = now

        setattr(verdict, NAME, measured)
        try:
            yield
        finally:
            setattr(verdict, NAME, before)

"""CPU time by path, measured at the places where the judge takes the observation of the next path."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from harness.judge import verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from harness.observe.observation import Observation
    from harness.path import Path


class PathClock:
    """Adds up the CPU seconds of observing and judging each path.

    Paths that share an export share its cost: the first of them pays for it. ``observe_eager`` before the
    paths is not counted here.
    """

    def __init__(self) -> None:
        """Start at zero."""
        self.cpu: Counter[Path] = Counter()

    @contextlib.contextmanager
    def attached(self) -> Iterator[None]:
        """Measure while the block runs."""
        before: Callable[..., Iterator[Observation]] = verdict.observe_paths

        def measured(case: Any, paths: Sequence[Path], clock: Any) -> Iterator[Observation]:
            since = time.process_time()
            for observation in before(case, paths, clock):
                yield observation
                # The judge takes the next one when it has judged this one.
                now = time.process_time()
                self.cpu[observation.path] += now - since
                since = now

        verdict.observe_paths = measured
        try:
            yield
        finally:
            verdict.observe_paths = before

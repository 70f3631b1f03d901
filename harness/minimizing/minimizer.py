"""A program that shows a finding -> a smaller one that shows the same."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.minimizing.judging import Judge, Question
from harness.minimizing.layout import laid_out
from harness.minimizing.reducer import Problem, Reducer
from harness.source.line_count import code_lines

if TYPE_CHECKING:
    from threading import Event

    from harness.findings import Finding
    from harness.patching.fixes import Fix

SECONDS = 60.0


class NotShownError(Exception):
    """The program does not show the finding that it is to be reduced for."""


@dataclass(frozen=True)
class Progress:
    """How far it is."""

    lines: int
    lines_at_start: int
    tried: int
    seconds: float
    at: str
    """The pass that is running."""
    source: str
    """The smallest text so far."""


@dataclass(frozen=True)
class Minimized:
    """What came of it."""

    source: str
    finding: Finding
    """As this source shows it."""
    tried: int
    seconds: float
    finished: bool
    """Whether no pass can make it smaller; else time ran out, or somebody stopped it."""
    history: tuple[tuple[str, Finding], ...] = field(default=(), repr=False)
    """All that was reached on the way, the start first."""


def minimize(
    source: str,
    finding: Finding,
    *,
    seconds: float = SECONDS,
    progress: Callable[[Progress], None] | None = None,
    stop: Event | None = None,
    fixes: Collection[Fix] = (),
    folders: Collection[str] = (),
    best: str = "",
    tried: Iterable[str] = (),
    on_rejected: Callable[[str], None] = lambda digest: None,
) -> Minimized:
    """Reduce the source of a program (with its ``make()``) for as long as it shows this finding.

    It judges in a process of its own, and may be called in any thread. With ``fixes`` in place
    (harness/patching/fixes.py) a known bug does not take the place of the one that is looked for. ``best``
    and ``tried`` are what an earlier run reached, and the digests of what it rejected. Raises NotShownError.
    An interrupt ends it early; it returns what was reached.
    """
    started = time.monotonic()
    judge = Judge(Question.about(finding, folders, fixes))
    history: list[tuple[str, Finding]] = []

    def is_interesting(text: str) -> bool:
        shown = judge(text)
        if shown is not None:
            history.append((text, shown))
        return shown is not None

    def over() -> bool:
        return time.monotonic() - started >= seconds or (stop is not None and stop.is_set())

    def tell(reducer: Reducer) -> None:
        if progress is not None:
            taken = time.monotonic() - started
            lines = reducer.lines
            progress(Progress(lines, at_start, reducer.tried, taken, reducer.at, reducer.best))

    reducer: Reducer | None = None
    try:
        for text in filter(None, (best, laid_out(source), source)):
            shown = judge.begin(text, finding)
            if shown is not None:
                break
        else:
            raise NotShownError(f"the program does not show {finding.check} {finding.kind} on {finding.path}")
        history.append((text, shown))
        reducer = Reducer(
            Problem(text, is_interesting), over=over, tried=tried, on_rejected=on_rejected, on_tried=tell
        )
        at_start = code_lines(source)
        reducer.run()
    except KeyboardInterrupt:
        if reducer is None:
            raise
    finally:
        judge.stop()
    text, shown = history[-1]
    taken = time.monotonic() - started
    return Minimized(laid_out(text), shown, reducer.tried, taken, reducer.finished, tuple(history))

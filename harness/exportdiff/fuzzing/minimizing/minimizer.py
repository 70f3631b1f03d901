"""Turns a program that shows a finding into a smaller one that shows the same finding."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from exportdiff.core.program_text.line_count import code_lines
from exportdiff.fuzzing.minimizing.candidate_judge import CandidateJudge, WantedFinding
from exportdiff.fuzzing.minimizing.layout import laid_out
from exportdiff.fuzzing.minimizing.reducer import Problem, Reducer

if TYPE_CHECKING:
    from threading import Event

    from exportdiff.core.finding import Finding
    from exportdiff.runtime.patching.fixes import Fix

SECONDS = 60.0
"""The default time limit."""


class NotShownError(Exception):
    """The program does not show the finding at the start."""


@dataclass(frozen=True)
class Progress:
    """The progress of the minimizer."""

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
    """The result of the minimizer."""

    source: str
    finding: Finding
    """The finding as this source shows it."""
    tried: int
    seconds: float
    finished: bool
    """Whether no pass can make it smaller. False: the time was over, or the user stopped it."""
    history: tuple[tuple[str, Finding], ...] = field(default=(), repr=False)
    """Every program that showed the finding, from the first to the smallest."""


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
    """Make the source of a program (with its ``make()``) smaller while it shows the finding.

    A child process judges the candidates, so any thread may call this. ``fixes`` are installed while judging,
    so that no known bug replaces the finding. ``best`` is the smallest text of an earlier run, ``tried`` the
    digests of the texts that it rejected. Ctrl-C ends the run early and returns the smallest program so far.
    Raises NotShownError.
    """
    started = time.monotonic()
    judge = CandidateJudge(WantedFinding.about(finding, folders, fixes))
    history: list[tuple[str, Finding]] = []

    def is_interesting(text: str) -> bool:
        shown = judge(text)
        if shown is not None:
            history.append((text, shown))
        return shown is not None

    def over() -> bool:
        return time.monotonic() - started >= seconds or (stop is not None and stop.is_set())

    def report(reducer: Reducer) -> None:
        if progress is not None:
            elapsed = time.monotonic() - started
            lines = reducer.lines
            progress(Progress(lines, at_start, reducer.tried, elapsed, reducer.at, reducer.best))

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
            Problem(text, is_interesting), over=over, tried=tried, on_rejected=on_rejected, on_tried=report
        )
        at_start = code_lines(source)
        reducer.run()
        text, shown = history[-1]
        history[-1] = text, replace(shown, first_difference=judge.first_difference(laid_out(text), shown))
    except KeyboardInterrupt:
        if reducer is None:
            raise
    finally:
        judge.stop()
    text, shown = history[-1]
    elapsed = time.monotonic() - started
    return Minimized(laid_out(text), shown, reducer.tried, elapsed, reducer.finished, tuple(history))

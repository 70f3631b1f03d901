"""Turns a minimized program into a repro file that shows the finding in a fresh process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from exportdiff.fuzzing.minimizing.layout import laid_out
from exportdiff.repro import NoReproError, repro_source
from exportdiff.repro.confirm import Confirmation, confirm

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding
    from exportdiff.fuzzing.minimizing.minimizer import Minimized
    from exportdiff.repro import NeededFixes


@dataclass(frozen=True)
class Shipped:
    """A repro file, and whether it shows the finding."""

    text: str
    """The text of the repro file; the program alone if no repro file can be written for this finding."""
    source: str
    finding: Finding
    confirmed: bool
    reason: str
    """What the file printed, or why the run does not count."""
    smallest: bool = True
    """Whether it has the smallest program. False: it has an earlier, larger one."""


def ship(
    minimized: Minimized, confirm: Callable[[str], Confirmation] = confirm, needs: NeededFixes | None = None
) -> Shipped:
    """Write a repro file of the smallest program, or of an earlier one if its file does not show the finding.

    A fresh process may disagree with a worker that has judged many programs, and a repro file with a check.
    The steps back through the history double, so few attempts are needed. ``needs``: the fixes that the file
    must name; ``confirm`` installs them.
    """
    back = 0
    smallest: Shipped | None = None
    history = [(laid_out(source), finding) for source, finding in minimized.history]
    while True:
        index = max(len(history) - 1 - back, 0)
        shipped = _written(*history[index], confirm, needs)
        if shipped.confirmed:
            return replace(shipped, smallest=smallest is None)
        smallest = smallest or shipped
        if index == 0:
            return smallest
        back = 2 * back + 1


def _written(
    source: str, finding: Finding, confirm: Callable[[str], Confirmation], needs: NeededFixes | None
) -> Shipped:
    try:
        text = repro_source(finding, source, needs)
    except NoReproError as error:
        return Shipped(source, source, finding, False, str(error))
    answer = confirm(text)
    return Shipped(text, source, finding, answer.confirmed, answer.reason)

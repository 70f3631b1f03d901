"""Keeps the findings that a second judgement, in a fresh process, shows as well."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from exportdiff.core.finding import Finding
    from exportdiff.core.first_difference import FirstDifference
    from exportdiff.core.path import Path
    from exportdiff.interfaces.checking.found import Found
    from exportdiff.interfaces.checking.report import Report

UNCONFIRMED = "a second process did not show its differences"


class SecondJudgement:
    """The second judgement of one report.

    A finding is judged again on its first path only. A path that ends its process is not judged again: it did
    so twice already, first with the other paths, then alone.
    """

    def __init__(self, report: Report, on_confirmed: Callable[[Found], None] = lambda found: None) -> None:
        """``on_confirmed`` gets each finding as soon as it is confirmed."""
        self._report = report
        self._on_confirmed = on_confirmed
        self._waiting = {each.finding.fingerprint: each for each in report.found}
        self._places: dict[str, FirstDifference | None] = {}
        """By fingerprint: where the path first differs from eager, as the second judgement found."""
        for each in report.found:
            if each.finding.kind in ("abort", "hang"):
                self.see(each.finding)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths to judge again; empty if there is nothing to confirm."""
        return tuple(dict.fromkeys(each.finding.path for each in self._waiting.values()))

    @property
    def waiting(self) -> int:
        """How many findings are not confirmed yet."""
        return len(self._waiting)

    def see(self, finding: Finding) -> None:
        """Take a finding of one path of the second judgement."""
        found = self._waiting.pop(finding.fingerprint, None)
        if found is not None:
            self._places[finding.fingerprint] = finding.first_difference
            self._on_confirmed(self._located(found))

    def finished(self) -> Report:
        """Return the report without the findings that are not confirmed; it counts them.

        A path that differs only in these was not judged.
        """
        kept = tuple(self._located(each) for each in self._report.found if not self._waits(each))
        gone = {path for each in self._waiting.values() for path in each.finding.shown_on}
        gone -= {path for each in kept for path in each.finding.shown_on}
        results = tuple(
            replace(each, outcome="not judged", reason=UNCONFIRMED)
            if each.path in gone and each.outcome == "differs"
            else each
            for each in self._report.paths
        )
        return replace(self._report, paths=results, found=kept, unconfirmed=self.waiting)

    def stopped(self, why: str) -> Report:
        """Return the report after an early end: a finding that is not confirmed stays, and says why."""
        remark = f"{why} before it was confirmed"
        found = tuple(
            replace(each, remark=remark, searched=False) if self._waits(each) else self._located(each)
            for each in self._report.found
        )
        return replace(self._report, found=found)

    def _located(self, found: Found) -> Found:
        return found.at(self._places.get(found.finding.fingerprint))

    def _waits(self, found: Found) -> bool:
        return found.finding.fingerprint in self._waiting

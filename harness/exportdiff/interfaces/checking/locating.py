"""Finds where each confirmed finding first differs from eager. Imports torch."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from exportdiff.core.first_difference import not_found
from exportdiff.judging.places.find import first_difference

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.core.first_difference import FirstDifference

TIMES = 4
"""A search is expected to take at most this many times as long as judging the path."""
SAID = 200
"""How many characters of an error are printed."""


class Locator:
    """Finds the places of the findings of one case, as long as there is time."""

    def __init__(self, case: Case, seconds: float) -> None:
        """``seconds``: how long judging and searching may take together."""
        self._case = case
        self._end = time.monotonic() + seconds
        self._since = time.monotonic()

    def located(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Return the findings of a path that was just judged, each with its first difference."""
        took = time.monotonic() - self._since
        found = tuple(replace(each, first_difference=self._place(each, took)) for each in findings)
        self._since = time.monotonic()
        return found

    def _place(self, finding: Finding, took: float) -> FirstDifference:
        if time.monotonic() + TIMES * took > self._end:
            return not_found("there was no time")
        try:
            with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return first_difference(self._case, finding)
        except Exception as error:  # a finding without a place is better than none
            return not_found(f"the model was run again to search for it, and that run raised {_said(error)}")


def _said(error: Exception) -> str:
    """Return the class of an exception and the first line of its message."""
    first = next(filter(None, map(str.strip, str(error).splitlines())), "")
    return f"{type(error).__name__}: {first[:SAID]}" if first else type(error).__name__

"""Errors of exportdiff's own code: their events, where they were raised, and when there are too many."""

from __future__ import annotations

import pathlib
import traceback
from collections import Counter

from exportdiff.core.own_code import PACKAGE
from exportdiff.fuzzing.campaign.events import HarnessError

SAME_ERRORS = 10
"""The number of errors from one place that ends a campaign: further programs would show the error as well."""


def harness_error(at: float, example: int | None, error: Exception) -> HarnessError:
    """Return the event for an exception of exportdiff's own code; ``at``: seconds since the start."""
    return HarnessError(at, example, "".join(traceback.format_exception(error)), place_of(error))


def place_of(error: BaseException) -> tuple[str, ...]:
    """Return the type of an exception and the lines of exportdiff in its traceback, outermost first.

    The result does not depend on the program: it has no message, and no lines of the program or of torch.
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = (frame for frame in frames if pathlib.Path(frame.filename).is_relative_to(PACKAGE))
    return type(error).__qualname__, *(f"{frame.filename}:{frame.lineno}" for frame in own)


class TooManyErrors(Exception):  # noqa: N818 - a reason to end, not an error
    """A place of exportdiff has raised ``SAME_ERRORS`` errors."""


class ErrorCount:
    """Counts the errors of a campaign by place."""

    def __init__(self) -> None:
        """Begin with none."""
        self._seen: Counter[tuple[str, ...]] = Counter()

    def add(self, event: HarnessError) -> None:
        """Count one error. Raises TooManyErrors."""
        place = event.place or (event.traceback,)
        self._seen[place] += 1
        if self._seen[place] == SAME_ERRORS:
            raise TooManyErrors

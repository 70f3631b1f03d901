"""Errors of exportdiff's own code: where one was raised, and when there are too many of one place."""

from __future__ import annotations

import pathlib
import traceback
from collections import Counter
from typing import TYPE_CHECKING

from exportdiff.core.own_code import PACKAGE

if TYPE_CHECKING:
    from exportdiff.fuzzing.campaign.events import HarnessError

SAME_ERRORS = 10
"""So many errors from one place end a campaign: every further program would show the error as well."""


def place_of(error: BaseException) -> tuple[str, ...]:
    """Return the type of an exception and the lines of exportdiff that it came through, outermost first.

    What differs between programs is left out: the message, and the lines of the program and of torch.
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = (frame for frame in frames if pathlib.Path(frame.filename).is_relative_to(PACKAGE))
    return type(error).__qualname__, *(f"{frame.filename}:{frame.lineno}" for frame in own)


class TooManyErrors(Exception):  # noqa: N818 - a reason to end, not an error by itself
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

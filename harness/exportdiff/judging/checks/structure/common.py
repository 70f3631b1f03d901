"""The base of the evidence of the structure check, and how it writes names."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from exportdiff.core.finding import Relation
from exportdiff.judging.checks.evidence import WithoutCall

if TYPE_CHECKING:
    from collections.abc import Sequence


class OfStructure(WithoutCall):
    """A mismatch of modules, calls or graphs; subclasses set ``stage``, or have it as a field."""

    # A call that differs as well says more to a reader.
    relation = Relation.POSSIBLE_CAUSE
    fixed_words: ClassVar[tuple[str, ...]] = ()

    def words(self) -> tuple[str, ...]:
        """Return fixed words; some subclasses add words from their fields."""
        return self.fixed_words


def two_lists(expected: Sequence[str], seen: Sequence[str]) -> tuple[str, str]:
    """Return a line for eager's names and one for the path's."""
    return f"eager: {listed(expected)}", f"here: {listed(seen)}"


def listed(names: Sequence[str]) -> str:
    """Return names in a row, cut off where there are too many."""
    text = ", ".join(repr(name) if name == "" else name for name in names)
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}…"


_WIDTH = 300

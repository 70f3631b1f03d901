"""The trigger of an entry without a fix: which tags a program needs to show the bug.

A trigger is a list of words, and a program needs what each word says. A word is a tag; ``A|B`` is one tag of
several, and ``inplace.*`` is any tag that the shell pattern matches.
"""

from __future__ import annotations

from fnmatch import filter as matching
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence


def triggered(trigger: Sequence[str], tags: Collection[str]) -> bool:
    """Whether a program with these tags has all that the trigger demands."""
    return all(any(matching(tags, each) for each in word.split("|")) for word in trigger)


def unknown(trigger: Sequence[str], tags: Collection[str]) -> Iterator[str]:
    """Yield what the trigger contains that none of all tags matches. Such a part explains nothing."""
    yield from (each for word in trigger for each in word.split("|") if not matching(tags, each))

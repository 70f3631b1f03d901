"""Draws and renders the programs that a campaign judges; no other file of harness/ imports strategies/.

Importing strategies/ and Hypothesis takes a quarter of a second: the functions do so when they are called, so
that a command that draws nothing starts without it.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from itertools import combinations

DEFAULT_PROFILE = "default"


def program_source(seed: int, index: int, profile: str = DEFAULT_PROFILE) -> tuple[str, tuple[str, ...]]:
    """Return the source of an example and its tags."""
    from strategies import draw_program, render, tags_of

    program = draw_program(seed, index, profile)
    return render(program), tuple(sorted(tags_of(program)))


def profile_names() -> tuple[str, ...]:
    """Return what a campaign may draw by, the default first."""
    from strategies.profiles import PROFILES

    return tuple(dict.fromkeys((DEFAULT_PROFILE, *PROFILES)))


def tag_names() -> tuple[str, ...]:
    """Return every tag that a program may have."""
    from strategies.tags import TAGS

    return tuple(TAGS)


@dataclass(frozen=True)
class TagCount:
    """How often each tag was drawn, and each two of them together."""

    examples: int
    seconds: float
    """For drawing and rendering; importing what does so is not counted."""
    tags: dict[str, int]
    """Every tag, in the order of their table."""
    pairs: dict[tuple[str, str], int]
    """Those that were drawn, each sorted."""
    meanings: dict[str, str]
    possible: int
    """How many pairs of tags can meet in one program."""


def count_tags(seed: int, examples: int, profile: str = DEFAULT_PROFILE) -> TagCount:
    """Draw and render the first examples of a campaign, and count their tags."""
    from strategies import draw_program, render, tags_of
    from strategies.tags import TAGS, can_meet

    tags = Counter(dict.fromkeys(TAGS, 0))
    pairs: Counter[tuple[str, str]] = Counter()
    seconds = 0.0
    program_source(seed, 0, profile)  # so that nothing is counted that only the first program pays
    for index in range(examples):
        started = time.perf_counter()
        program = draw_program(seed, index, profile)
        render(program)
        seconds += time.perf_counter() - started
        drawn = sorted(tags_of(program))
        tags.update(drawn)
        pairs.update(combinations(drawn, 2))
    possible = sum(can_meet(one, other) for one, other in combinations(sorted(TAGS), 2))
    meanings = {name: tag.meaning for name, tag in TAGS.items()}
    return TagCount(examples, seconds, dict(tags), dict(sorted(pairs.items())), meanings, possible)

"""Draws and renders the programs of a campaign. No other module of exportdiff imports the strategies.

Importing the strategies and Hypothesis takes a quarter of a second. The functions import them when they are
called, so that commands that draw no programs start faster.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING

from exportdiff.core.torch_versions import has

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from exportdiff_strategies import Program as Program

DEFAULT_PROFILE = "default"
IMPORTS = ("exportdiff.core.programs", "exportdiff_strategies")
"""The modules that a process imports to draw programs."""


def program_source(seed: int, index: int, profile: str = DEFAULT_PROFILE) -> tuple[str, tuple[str, ...]]:
    """Draw the program with this seed and index; return its source and its tags."""
    from exportdiff_strategies import draw_program, render, tags_of

    program = draw_program(seed, index, profile, switches_left_out())
    return render(program), tuple(sorted(tags_of(program)))


@cache
def switches_left_out() -> frozenset[str]:
    """Return the switches that are always off because this torch lacks what they need."""
    return frozenset(switches_needing())


def switches_needing() -> dict[str, str]:
    """Return these switches, with the name in torch that each needs."""
    from exportdiff_strategies.profiles import NEEDS

    return {switch: name for switch, name in NEEDS.items() if not has(name)}


def profile_names() -> tuple[str, ...]:
    """Return the names of the profiles that a campaign may use, the default first."""
    from exportdiff_strategies.profiles import PROFILES

    return tuple(dict.fromkeys((DEFAULT_PROFILE, *PROFILES)))


def switch_names() -> tuple[str, ...]:
    """Return the names of all switches."""
    from exportdiff_strategies.profiles import BASE, IDIOMS

    return (*BASE, *IDIOMS)


def drawn_programs(
    profile: str, switches: frozenset[str] | None, forbidden: frozenset[str]
) -> SearchStrategy[Program]:
    """Return the strategy for Programs that this torch can run; ``switches`` replaces the profile."""
    from exportdiff_strategies import programs

    return programs(profile=profile, switches=switches, forbidden=forbidden | switches_left_out())


def source_of(program: Program) -> str:
    """Return the source of a Program: a module that defines ``make()``."""
    from exportdiff_strategies import render

    return render(program)


def tags_in(program: Program) -> frozenset[str]:
    """Return the tags of a Program."""
    from exportdiff_strategies import tags_of

    return tags_of(program)


def tag_names() -> tuple[str, ...]:
    """Return every tag that a program may have."""
    from exportdiff_strategies.tags import TAGS

    return tuple(TAGS)


def templates_by_tag() -> dict[str, tuple[str, ...]]:
    """Return the templates of the operators and layers of which each tag speaks."""
    from exportdiff_strategies.layers.table import LAYERS
    from exportdiff_strategies.ops import OPS
    from exportdiff_strategies.tags import TAGS

    found: dict[str, list[str]] = {}
    for name, spec in OPS.items():
        for tag in (spec.group, f"op.{spec.group}", f"op.{name}", f"inplace.{name}"):
            found.setdefault(tag, []).append(spec.template)
    for name, layer in LAYERS.items():
        found.setdefault(f"layer.{name}", []).append(layer.template)
    return {tag: tuple(templates) for tag, templates in found.items() if tag in TAGS}


@dataclass(frozen=True)
class TagCount:
    """How many programs have each tag, and each pair of tags."""

    examples: int
    seconds: float
    """The time for drawing and rendering, without imports."""
    tags: dict[str, int]
    """Every tag, in the order of the table of tags."""
    pairs: dict[tuple[str, str], int]
    """The pairs that were drawn; the tags of each pair are sorted."""
    meanings: dict[str, str]
    """One line for each tag: what a program with the tag contains."""
    possible: int
    """How many pairs of tags can occur in one program."""


def count_tags(seed: int, examples: int, profile: str = DEFAULT_PROFILE) -> TagCount:
    """Draw and render the first examples of a campaign, and count their tags."""
    from exportdiff_strategies import draw_program, render, tags_of
    from exportdiff_strategies.tags import TAGS, can_meet

    tags = Counter(dict.fromkeys(TAGS, 0))
    pairs: Counter[tuple[str, str]] = Counter()
    seconds = 0.0
    program_source(seed, 0, profile)  # fills caches, which must not count
    for index in range(examples):
        started = time.perf_counter()
        program = draw_program(seed, index, profile, switches_left_out())
        render(program)
        seconds += time.perf_counter() - started
        drawn = sorted(tags_of(program))
        tags.update(drawn)
        pairs.update(combinations(drawn, 2))
    possible = sum(can_meet(one, other) for one, other in combinations(sorted(TAGS), 2))
    meanings = {name: tag.meaning for name, tag in TAGS.items()}
    return TagCount(examples, seconds, dict(tags), dict(sorted(pairs.items())), meanings, possible)

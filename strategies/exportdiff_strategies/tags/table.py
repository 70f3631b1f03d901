"""All tags, and the tags of a Program."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.tags import (
    calls,
    control,
    dynamic,
    hierarchy,
    idioms,
    inputs,
    names,
    operations,
    outputs,
    regions,
    state,
)
from exportdiff_strategies.tags.analysis import Analysis
from exportdiff_strategies.tags.tag import Tag

TAGS: dict[str, Tag] = {
    **hierarchy.TABLE,
    **calls.TABLE,
    **control.TABLE,
    **state.TABLE,
    **operations.TABLE,
    **names.TABLE,
    **inputs.TABLE,
    **outputs.TABLE,
    **regions.TABLE,
    **dynamic.TABLE,
    **idioms.TABLE,
}
"""Every tag by its name."""


def tags_of(program: ir.Program) -> frozenset[str]:
    """Return the tags of a Program. Raises Rejected for a Program that eager rejects."""
    analysis = Analysis(program)
    return frozenset(name for name, tag in TAGS.items() if tag.detect(analysis))

"""Detecting the tags of a Program."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.tags.analysis import Analysis
from exportdiff_strategies.tags.table import TAGS


def tags_of(program: ir.Program) -> frozenset[str]:
    """The tags of a Program. Raises Rejected for a Program that eager rejects."""
    analysis = Analysis(program)
    return frozenset(name for name, tag in TAGS.items() if tag.detect(analysis))

"""Tags of idioms: one for each kind."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.idioms import KINDS
from exportdiff_strategies.tags.tag import Tag, has_node

TABLE: dict[str, Tag] = {
    f"idiom.{name}": Tag(kind.meaning, has_node(ir.UseIdiom, kind=name)) for name, kind in KINDS.items()
}

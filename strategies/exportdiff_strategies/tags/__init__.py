"""Tags: what a Program contains and does. Swarm switches, in contrast, say what drawing may use."""

from exportdiff_strategies.tags.detection import tags_of
from exportdiff_strategies.tags.exclusions import can_meet
from exportdiff_strategies.tags.table import TAGS
from exportdiff_strategies.tags.tag import Tag

__all__ = ["TAGS", "Tag", "can_meet", "tags_of"]

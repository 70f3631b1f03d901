"""Tags: what a Program contains and does. Swarm switches, in contrast, say what drawing may use."""

from strategies.tags.detection import tags_of
from strategies.tags.exclusions import can_meet
from strategies.tags.table import TAGS
from strategies.tags.tag import Tag

__all__ = ["TAGS", "Tag", "can_meet", "tags_of"]

"""Tags: what a Program contains and does. Swarm switches, in contrast, say what drawing may use.

To add a tag, add one entry to the table of its family. The detector of a tag reads the finished Program and a
run of it on types, so that a tag states what the Program contains, whatever was meant to be drawn. A detector
calls them ``p``: ``"model.training": Tag("exported in train mode", lambda p: p.program.training)``.
"""

from exportdiff_strategies.tags.exclusions import can_meet
from exportdiff_strategies.tags.table import TAGS, tags_of
from exportdiff_strategies.tags.tag import Tag

__all__ = ["TAGS", "Tag", "can_meet", "tags_of"]

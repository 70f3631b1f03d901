"""The tags of a model that was not drawn: what its text, its modules and its inputs show.

A random program gets its tags from the Program that it is rendered from. A user's model and an edited program
have no Program. An entry without a fix is recognized by its trigger, so these need the tags of triggers.
The signature of the finding must agree as well (``resemblance.py``): these tags may be wider than those of
random programs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from exportdiff.known.attribution.shown_by_model import has_constant, tags_of_call, tags_of_model
from exportdiff.known.attribution.shown_by_text import tags_of_text
from exportdiff.runtime.observing.process_state import restore_modes

if TYPE_CHECKING:
    from exportdiff.core.case import Case

WRITES_IN_PLACE = r"\.[a-z]\w*_\("
"""What the text of a program with an in-place operator contains."""


def shown_tags(case: Case) -> set[str]:
    """Return the tags that a model shows. Builds it, and calls it once."""
    with restore_modes():
        built = case.build()
        classes = "".join(f"{type(part).__name__}(\n" for part in built.model.modules())
        found = tags_of_text(case.source + classes) | tags_of_model(built)
        if re.search(WRITES_IN_PLACE, case.source) and has_constant(built.model):
            found.add("inplace.constant")
        return found | tags_of_call(built)

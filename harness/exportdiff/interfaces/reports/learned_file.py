"""learned.json: which exports have shown new findings, for the next campaign (``fuzz --learned``)."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from exportdiff.core.errors import UsageError
from exportdiff.fuzzing.campaign.events import CampaignFinished, Event
from exportdiff.fuzzing.campaign.learning import Yield
from exportdiff.interfaces.output_files import replace_text

if TYPE_CHECKING:
    import pathlib

    from exportdiff.interfaces.reports.folder import Folder

FORMAT = 1


class LearnedFile:
    """Writes learned.json at the end of a campaign."""

    def __init__(self, folder: Folder) -> None:
        """Write to the folder of the campaign."""
        self._folder = folder

    def __call__(self, event: Event) -> None:
        """Take an event. Raises OSError."""
        if isinstance(event, CampaignFinished):
            arms = {arm: vars(each) for arm, each in event.learned.items()}
            document = {"format": FORMAT, "arms": arms}
            replace_text(self._folder.learned, json.dumps(document, indent=1) + "\n")


def read_learned(file: pathlib.Path) -> dict[str, Yield]:
    """Read a learned.json. Raises UsageError."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        if document["format"] != FORMAT:
            raise UsageError(f"{file} has format {document['format']}; this exportdiff reads {FORMAT}")
        return {
            str(arm): Yield(_amount(each["cost"]), _amount(each["findings"]))
            for arm, each in document["arms"].items()
        }
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}; name the learned.json of a campaign") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise UsageError(f"{file} is not the learned.json of a campaign; name such a file") from None


def _amount(value: Any) -> float:
    """Return a number that is not negative. Raises ValueError or TypeError."""
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(value)
    return float(value)

"""What the results of a campaign depend on besides its settings: torch, Python, exportdiff, the corpus."""

from __future__ import annotations

import pathlib
import platform
from dataclasses import dataclass
from importlib.metadata import version

from exportdiff.core.own_code import digest_of, source_files
from exportdiff.core.torch_versions import torch_digest
from exportdiff.known.corpus.entry import FIXES, find_files


@dataclass(frozen=True)
class CampaignInputs:
    """What the results of a campaign depend on besides its settings."""

    torch: str
    """The version, and a digest of its files."""
    python: str
    exportdiff: str
    """The version, and a digest of the code."""
    corpus: str
    """A digest of the corpus; empty: there is none."""


def campaign_inputs(corpora: pathlib.Path | None) -> CampaignInputs:
    """Return what the results depend on in this process."""
    known = [] if corpora is None else [*find_files([corpora]), *sorted((corpora / FIXES).glob("*.patch"))]
    return CampaignInputs(
        f"{version('torch')} {torch_digest()[:12]}",
        platform.python_version(),
        f"{version('exportdiff')} {digest_of(source_files())}",
        digest_of(known) if known else "",
    )


def difference(expected: CampaignInputs, here: CampaignInputs) -> tuple[str, str, str] | None:
    """Return the first input that differs: its name, the expected value, and the value here."""
    names = {"torch": "torch", "python": "Python", "exportdiff": "exportdiff", "corpus": "the corpus"}
    pairs = ((what, getattr(expected, name), getattr(here, name)) for name, what in names.items())
    return next(((what, before, now) for what, before, now in pairs if before != now), None)

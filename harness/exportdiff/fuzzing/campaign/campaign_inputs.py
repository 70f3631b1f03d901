"""What the results of a campaign depend on beside its settings: torch, Python, exportdiff, the corpus."""

from __future__ import annotations

import hashlib
import pathlib
import platform
from dataclasses import dataclass
from importlib.metadata import version

from exportdiff.core.own_code import source_files
from exportdiff.known.corpus.entry import FIXES, find_files


@dataclass(frozen=True)
class CampaignInputs:
    """What the results of a campaign depend on, beside its settings."""

    torch: str
    python: str
    exportdiff: str
    """The version, and a digest of the code."""
    corpus: str
    """A digest of the corpus; empty: there is none."""


def campaign_inputs(corpora: pathlib.Path | None) -> CampaignInputs:
    """Return what the results depend on here and now."""
    known = [] if corpora is None else [*find_files([corpora]), *sorted((corpora / FIXES).glob("*.patch"))]
    return CampaignInputs(
        version("torch"),
        platform.python_version(),
        f"{version('exportdiff')} {_digest(source_files())}",
        _digest(known) if known else "",
    )


def _digest(files: list[pathlib.Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        content = file.read_bytes()
        digest.update(f"{file.name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:12]


def difference(expected: CampaignInputs, here: CampaignInputs) -> tuple[str, str, str] | None:
    """Return the first thing that differs: its name, what was expected, and what is here."""
    for name, what in (
        ("torch", "torch"),
        ("python", "Python"),
        ("exportdiff", "exportdiff"),
        ("corpus", "the corpus"),
    ):
        before, now = getattr(expected, name), getattr(here, name)
        if before != now:
            return what, before, now
    return None

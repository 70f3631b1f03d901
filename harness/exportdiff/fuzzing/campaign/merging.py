"""Joins the journals of several shards of one campaign into one journal, in the order of the programs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError
from exportdiff.fuzzing.campaign.journal import Answered, Begun, Done, checked, entries

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence

    from exportdiff.fuzzing.campaign.settings import CampaignSettings


def merged(files: Sequence[pathlib.Path]) -> tuple[Begun, list[Done | Answered]]:
    """Return the lines of one journal with the results of all files, as if there had been no shards.

    That campaign is over: resuming it reports the results and runs no further programs. Raises UsageError if
    the files are not of one campaign, or if two have the same program.
    """
    all_begun = [checked(file)[0] for file in files]
    begun = _common(files, all_begun)
    done: dict[int, tuple[Done, pathlib.Path]] = {}
    answers: dict[str, Answered] = {}
    for file in files:
        for line in entries(file):
            if isinstance(line, Answered):
                answers.setdefault(line.question, line)
            elif line.result.index in done:
                raise UsageError(
                    f"{done[line.result.index][1].parent} and {file.parent} both have program "
                    f"{line.result.index}; name each shard once"
                )
            else:
                done[line.result.index] = line, file
    results = [line for _, (line, _) in sorted(done.items())]
    settings = replace(begun.settings, shard=(1, 1), minimize_seconds=0.0, against=None)
    if settings.examples is None or len(results) < settings.examples:
        # The time ends with the last result.
        latest = max((line.at for line in results), default=0.0)
        settings = replace(settings, seconds=latest)
        results[-1:] = [replace(line, at=latest) for line in results[-1:]]
    # All shards count seconds from their own start; the journal says when the first one began.
    began = min((each.began for each in all_begun if each.began), default="")
    return replace(begun, settings=settings, began=began), [*answers.values(), *results]


def _common(files: Sequence[pathlib.Path], all_begun: Sequence[Begun]) -> Begun:
    """Return what the journals have in common; raise UsageError if they are of several campaigns."""
    first, *others = all_begun
    for file, other in zip(files[1:], others, strict=True):
        if _campaign(other.settings) != _campaign(first.settings):
            raise UsageError(
                f"{files[0].parent} and {file.parent} are of different campaigns: seed, paths, profile, "
                "number of programs and number of shards must be the same"
            )
        if other.inputs != first.inputs:
            raise UsageError(f"{files[0].parent} and {file.parent} ran with different torches or corpora")
    return first


def _campaign(settings: CampaignSettings) -> CampaignSettings:
    """Return the settings without those that may differ between the shards of one campaign."""
    plain = replace(settings, workers=1, seconds=None, minimize_seconds=0.0, minimize_total_seconds=None)
    return replace(plain, shard=(1, settings.shard[1]), corpora=None)

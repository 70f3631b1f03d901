"""The result of a campaign as GitHub-flavoured Markdown, for the summary page of a CI job."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from exportdiff.interfaces.wording import counted, span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exportdiff.interfaces.reports.campaign_report import CampaignReport
    from exportdiff.interfaces.reports.displayed_findings import DisplayedFinding

SHOWN = 10
"""How many findings have a part of their own; the others are counted. A summary page takes 1 MiB."""
MASKED = 20
"""How many masked findings are named."""
LONG = 60
"""A program of more lines is in the repro file alone."""


def markdown(campaign: CampaignReport, found: Sequence[DisplayedFinding]) -> str:
    """Return the text: the verdict, what is new with the program to paste, the counts."""
    return "\n".join(_lines(campaign, found)) + "\n"


def _lines(campaign: CampaignReport, found: Sequence[DisplayedFinding]) -> Iterator[str]:
    tally, started = campaign.tally, campaign.tally.started
    yield f"## {campaign.verdict()}"
    yield ""
    for trouble in campaign.troubles():
        yield f"> [!WARNING]\n> {trouble}\n"
    new = [card for card in found if card.kind in ("torch regression", "new")]
    for card in new[:SHOWN]:
        yield from _finding(card)
    if len(new) > SHOWN:
        yield f"And {counted(len(new) - SHOWN, 'more finding')} in `findings/`.\n"
    masked = [card for card in found if card.kind == "masked"]
    if masked:
        yield f"<details><summary>Masked by known bugs: {len(masked)}</summary>\n"
        for card in masked[:MASKED]:
            programs = counted(card.programs, "program")
            yield f"- {code(card.title)}: {programs}, {code(card.command)}"
        if len(masked) > MASKED:
            yield f"- and {len(masked) - MASKED} more"
        yield "\n</details>\n"
    for key, shown in tally.of_kind("regression").items():
        fixes = ", ".join(shown.classification.fixes)
        yield f"- Regression of a fix ({fixes}): {code(shown.finding.title)}, {code(key)}"
    yield "\n| | |\n| --- | --- |"
    yield f"| programs | {tally.examples:,} in {span(campaign.fuzzing)}, {campaign.speed()} |"
    wrong = counted(len(tally.of_kind("regression")), "regression")
    kinds = f"{tally.new} new, {len(tally.of_kind('masked'))} masked, {wrong} of fixes"
    yield f"| findings | {kinds} |"
    yield f"| known bugs seen | {len(tally.known)} |"
    for mode, exports in tally.exports.items():
        if exports.refused and "+" not in mode:
            yield f"| refused by {mode} export | {exports.refused:,} of {exports.programs:,} |"
    if started is not None:
        yield f"| torch | {started.torch}, Python {started.python} |"
        yield f"| seed | {started.seed}, profile {started.profile} |"


def _finding(card: DisplayedFinding) -> Iterator[str]:
    yield f"### {'Regression of torch: ' * (card.kind == 'torch regression')}{escaped(card.title)}\n"
    yield fenced(card.message) + "\n"
    more = f" and {counted(len(card.paths) - 1, 'more path')}" if len(card.paths) > 1 else ""
    yield f"{counted(card.programs, 'program')}, first {card.first}; on {code(card.paths[0])}{more}\n"
    yield fenced(card.command, "sh") + "\n"
    if card.source and card.source.count("\n") <= LONG:
        yield f"<details{' open' if card.minimal else ''}><summary>Program</summary>\n"
        yield fenced(card.source.strip("\n"), "python") + "\n"
        yield "</details>\n"


def fenced(text: str, language: str = "") -> str:
    """Return a block of code; the text may hold any number of backticks."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def code(text: str) -> str:
    """Return code within a line or a cell of a table."""
    text = " ".join(text.split())
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def escaped(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return re.sub(r"([\\`*_{}\[\]<>#|~@])", r"\\\1", " ".join(text.split()))

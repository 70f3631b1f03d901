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
"""How many findings have a section; the others are counted. A summary page may have 1 MiB."""
MASKED = 20
"""How many masked findings are listed."""
LONG = 60
"""A program with more lines is left out; it is in the repro file."""


def markdown(campaign: CampaignReport, found: Sequence[DisplayedFinding]) -> str:
    """Return the text: the result, the new findings with their programs, the counts."""
    return "\n".join(_lines(campaign, found)) + "\n"


def _lines(campaign: CampaignReport, found: Sequence[DisplayedFinding]) -> Iterator[str]:
    tally, started = campaign.tally, campaign.tally.started
    yield f"## {campaign.verdict()}"
    yield ""
    for trouble in campaign.troubles():
        yield f"> [!WARNING]\n> {trouble}\n"
    new = [each for each in found if each.kind in ("torch regression", "new")]
    for each in new[:SHOWN]:
        yield from _finding(each)
    if len(new) > SHOWN:
        yield f"And {counted(len(new) - SHOWN, 'more finding')} in `findings/`.\n"
    masked = [each for each in found if each.kind == "masked"]
    if masked:
        yield f"<details><summary>Masked by known bugs: {len(masked)}</summary>\n"
        for each in masked[:MASKED]:
            programs = counted(each.programs, "program")
            yield f"- {code(each.finding.title)}: {programs}, {code(each.command)}"
        if len(masked) > MASKED:
            yield f"- and {len(masked) - MASKED} more"
        yield "\n</details>\n"
    for each in found:
        if each.kind == "regression":
            fixes = ", ".join(each.fixes)
            yield f"- Regression of a fix ({fixes}): {code(each.finding.title)}, {code(each.key)}"
    yield "\n| | |\n| --- | --- |"
    yield f"| programs | {tally.examples:,} in {span(campaign.fuzzing)}, {campaign.speed()} |"
    yield f"| findings | {campaign.counts()} |"
    fixed = f", {tally.known_fixed} of them fixed in a newer torch" * bool(tally.known_fixed)
    yield f"| known bugs seen | {len(tally.known)}{fixed} |"
    for mode, exports in tally.refused_exports.items():
        yield f"| refused by {mode} export | {exports.refused:,} of {exports.programs:,} |"
    if started is not None:
        yield f"| torch | {started.torch}, Python {started.python} |"
        yield f"| seed | {started.seed}, profile {started.profile} |"


def _finding(each: DisplayedFinding) -> Iterator[str]:
    yield f"### {'Regression of torch: ' * (each.kind == 'torch regression')}{escaped(each.finding.title)}\n"
    yield fenced(each.finding.message) + "\n"
    more = f" and {counted(len(each.paths) - 1, 'more path')}" if len(each.paths) > 1 else ""
    yield f"{counted(each.programs, 'program')}, first {each.first}; on {code(each.paths[0])}{more}\n"
    yield fenced(each.command, "sh") + "\n"
    if each.texts.source and each.texts.source.count("\n") <= LONG:
        yield f"<details{' open' if each.finding.minimal else ''}><summary>Program</summary>\n"
        yield fenced(each.texts.source.strip("\n"), "python") + "\n"
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

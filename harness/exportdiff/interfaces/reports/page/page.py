"""The report of a campaign: one HTML file that needs no network and no other file."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.interfaces.reports.campaign_comparison import compare_campaigns
from exportdiff.interfaces.reports.displayed_findings import displayed_findings
from exportdiff.interfaces.reports.page.environment import environment
from exportdiff.interfaces.reports.page.figures import (
    PagePlot,
    change_figure,
    growth_figure,
    heat_extent,
    heat_figure,
    known_figure,
    refusal_figure,
    throughput_figure,
)
from exportdiff.interfaces.wording import counted
from exportdiff.judging.checks import CHECKS
from exportdiff.runtime.paths import parse, promise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exportdiff.interfaces.reports.campaign_report import CampaignReport
    from exportdiff.interfaces.reports.discovery import Discovery
    from exportdiff.interfaces.reports.displayed_findings import DisplayedFinding
    from exportdiff.interfaces.reports.folder import Folder
    from exportdiff.judging.checks import Check

OPEN_CARDS = 3
"""How many of the new findings are open when the page loads."""


@dataclass(frozen=True)
class Estimate:
    """How much is still to be found, as a sentence and as a plot."""

    found: int
    left: int | None
    """None: too few were found twice for an estimate."""
    sentence: str
    figure: PagePlot


def page(campaign: CampaignReport, folders: Sequence[Folder], before: CampaignReport | None = None) -> str:
    """Return the text of the file. Raises UsageError if the library that draws the plots is missing."""
    tally = campaign.tally
    compared = compare_campaigns(campaign, before) if before is not None else None
    shown = displayed_findings(campaign, folders)
    # Findings that the campaign before did not have come first.
    fresh = compared.new_findings if compared is not None else frozenset(tally.findings)
    shown.sort(key=lambda card: (card.kind != "new", not fresh & set(card.keys)))
    rates = compared.rates if compared is not None else ()
    return (
        environment()
        .get_template("report.html.jinja")
        .render(
            campaign=campaign,
            tally=tally,
            started=tally.started,
            where=tally.started.environment if tally.started is not None else None,
            new=[card for card in shown if card.kind == "new"],
            masked=[card for card in shown if card.kind == "masked"],
            regressions=[card for card in shown if card.kind == "regression"],
            worse=[card for card in shown if card.kind == "torch regression"],
            since=compared,
            fresh=fresh,
            open_cards=OPEN_CARDS,
            failures=list(campaign.timeline.failures.values()),
            unexplained=_unexplained(campaign),
            known_growth=_known(campaign),
            throughput=throughput_figure(campaign),
            heat=heat_figure(campaign),
            heat_extent=heat_extent(campaign),
            promises=_promises(shown),
            checks={name: _first_line(check) for name, check in CHECKS.items()},
            refusals=refusal_figure(campaign),
            known=known_figure(campaign, rates),
            changes=change_figure(rates),
        )
    )


def _promises(shown: Sequence[DisplayedFinding]) -> dict[str, str]:
    """Return what each path with a finding must guarantee, if the path still exists."""
    names = sorted({path for card in shown for path in card.paths})
    found = {}
    for name in names:
        with suppress(ValueError):  # an older exportdiff had this path
            found[name] = promise(parse(name))
    return found


def _first_line(check: Check) -> str:
    return (check.__doc__ or "").strip().splitlines()[0]


def _unexplained(campaign: CampaignReport) -> Estimate | None:
    found = campaign.timeline.unexplained(campaign.tally)
    if not found.found:
        return None
    drawn = growth_figure(
        "unexplained", found, "programs", "different findings that the corpus does not explain"
    )
    return Estimate(found.found, _left(found), _sentence(found, "finding"), drawn)


def _known(campaign: CampaignReport) -> Estimate | None:
    found = campaign.timeline.known()
    if not found.found:
        return None
    drawn = growth_figure("corpus", found, "programs on which they were counted", "known bugs")
    return Estimate(found.found, _left(found), _sentence(found, "known bug"), drawn)


def _left(found: Discovery) -> int | None:
    """Return how many are still to be found; None if too little is known.

    Chao2, a statistical estimate, is only a guess if no two programs show the same finding.
    """
    return round(found.undetected) if found.seen_in(2) or found.seen_in(1) < 2 else None


def _sentence(found: Discovery, noun: str) -> str:
    """Return the estimates as a sentence."""
    seen = f"{counted(found.found, noun)} found"
    if not found.seen_in(1):
        return f"{seen}, each on two programs or more: more programs of this kind will hardly find another."
    left = _left(found)
    rate = f"one program in {round(1 / found.rate):,} shows one that no program has shown before"
    more = round(found.expected(found.programs)) - found.found
    again = f"As many programs again would find about {more:,} more."
    if left is None:
        return f"{seen}, too few of them twice to estimate how many are still to be found; {rate}. {again}"
    if not left:
        return f"{seen}; {rate}."
    return f"{seen}, at least {left:,} more to be found; {rate}. {again}"

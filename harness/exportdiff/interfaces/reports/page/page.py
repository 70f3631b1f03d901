"""The report of a campaign: one HTML file that needs no network and no other file."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from exportdiff.interfaces.reports.campaign_comparison import since
from exportdiff.interfaces.reports.displayed_findings import displayed_findings
from exportdiff.interfaces.reports.page.figures import (
    Figure,
    change_figure,
    growth_figure,
    heat_extent,
    heat_figure,
    known_figure,
    refusal_figure,
    throughput_figure,
)
from exportdiff.interfaces.wording import counted, listed, span
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
"""How many of the new findings are unfolded at first."""


@dataclass(frozen=True)
class Estimate:
    """What is left to find, in words and as a plot."""

    found: int
    left: int | None
    """None: too few were seen twice to estimate it."""
    sentence: str
    figure: Figure


def page(campaign: CampaignReport, folders: Sequence[Folder], before: CampaignReport | None = None) -> str:
    """Return the text of the file. Raises UsageError if the library is missing that draws the plots."""
    tally = campaign.tally
    compared = since(campaign, before) if before is not None else None
    shown = displayed_findings(campaign, folders)
    # What the campaign before did not have comes first.
    fresh = compared.fresh if compared is not None else frozenset(tally.shown)
    shown.sort(key=lambda card: (card.kind != "new", not fresh & set(card.keys)))
    rates = compared.rates if compared is not None else ()
    return (
        _environment()
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
    """Return what each path promises on which a finding of the page shows; of those that still exist."""
    names = sorted({path for card in shown for path in card.paths})
    found = {}
    for name in names:
        with suppress(ValueError):  # recorded by an exportdiff that had other paths
            found[name] = promise(parse(name))
    return found


def _first_line(check: Check) -> str:
    return (check.__doc__ or "").strip().splitlines()[0]


def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("exportdiff.interfaces.reports.page"),
        autoescape=select_autoescape(("html", "jinja")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        counted=counted,
        listed=listed,
        span=span,
        python=_python,
        svg=lambda text: Markup(text),  # our own plots; the texts in them are escaped
        number=lambda value: f"{value:,}",
    )
    return made


def _python(text: str) -> Markup:
    """Return a program with its parts marked for CSS."""
    return Markup(highlight(text, PythonLexer(), HtmlFormatter(nowrap=True)))


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
    """Return how many are left to find; None, if that would be a guess.

    Without any that two programs show, Chao2 is half the square of those that one program shows.
    """
    return round(found.undetected) if found.seen_in(2) or found.seen_in(1) < 2 else None


def _sentence(found: Discovery, noun: str) -> str:
    """Say what the estimates say."""
    seen = f"{counted(found.found, noun)} seen"
    if not found.seen_in(1):
        return f"{seen}, each on two programs or more: more programs of this kind will hardly show another."
    left = _left(found)
    rate = f"one program in {round(1 / found.rate):,} shows one that no program has shown before"
    more = round(found.expected(found.programs)) - found.found
    again = f"As many programs again would show about {more:,} more."
    if left is None:
        return f"{seen}, too few of them again to say how many are left; {rate}. {again}"
    if not left:
        return f"{seen}; {rate}."
    return f"{seen}, at least {left:,} more to find; {rate}. {again}"

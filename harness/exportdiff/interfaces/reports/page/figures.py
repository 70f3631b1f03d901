"""The plots of a page. Each is drawn for wide and for narrow screens, and CSS shows one of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.interfaces.reports.plots.bars import Bar, bars
from exportdiff.interfaces.reports.plots.growth import growth
from exportdiff.interfaces.reports.plots.heat import heat, shown
from exportdiff.interfaces.reports.plots.svg import drawn
from exportdiff.interfaces.reports.plots.throughput import throughput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exportdiff.interfaces.reports.campaign_comparison import Rate
    from exportdiff.interfaces.reports.campaign_report import CampaignReport
    from exportdiff.interfaces.reports.discovery import Discovery
    from exportdiff.interfaces.reports.plots.theme import Spec

WIDE, HALF, NARROW = 920, 440, 316
"""Pixels."""
WINDOWS = 60
"""Of the plot of throughput."""
BARS = 14
"""How many bars a plot has. The rest is one bar, or is left out."""
OTHERS = "others"
PARTS = ("nonstrict", "strict", "with transforms")
"""The parts of a bar of refusals: the bare modes, and all others."""


@dataclass(frozen=True)
class PagePlot:
    """A plot in both sizes."""

    name: str
    wide: str
    narrow: str
    says: str
    """What it shows, for screen readers."""


def figure(name: str, says: str, wide: Spec, narrow: Spec) -> PagePlot:
    """Draw a plot in both sizes."""
    return PagePlot(name, drawn(wide, f"{name}-wide"), drawn(narrow, f"{name}-narrow"), says)


def growth_figure(name: str, found: Discovery, programs: str, what: str) -> PagePlot:
    """Return the plot of what was found and of what is expected."""
    says = f"{what}: {found.found} found on {found.programs:,} programs"
    return figure(name, says, growth(found, HALF, programs), growth(found, NARROW, programs))


def throughput_figure(campaign: CampaignReport) -> PagePlot | None:
    """Return the plot of programs per second; None: no program was judged."""
    rates = campaign.timeline.rates(WINDOWS, campaign.fuzzing)
    if not campaign.timeline.times or not rates:
        return None
    least, most = min(rate for _, rate in rates), max(rate for _, rate in rates)
    says = (
        f"programs per second over time: {campaign.rate:.1f} on average, between {least:.1f} and {most:.1f}"
    )
    return figure(
        "throughput", says, throughput(rates, campaign.rate, WIDE), throughput(rates, campaign.rate, NARROW)
    )


HEAT = (28, 36)
"""How many tags and paths the heat map shows at most on a wide screen."""


def heat_extent(campaign: CampaignReport) -> str:
    """Return how many tags and paths the heat map shows, and the meaning of its strongest colour."""
    runs = campaign.timeline.runs
    tags, paths = shown(campaign.timeline, *HEAT)
    most = max((runs[path][tag] for path in paths for tag in tags), default=0)
    ran = {tag for counts in runs.values() for tag in counts}
    extent = f"{len(tags)} of {len(ran)} tags and {len(paths)} of {len(runs)} paths are shown"
    return f"{extent}, on a narrow screen fewer; the strongest colour means {most:,} programs."


def heat_figure(campaign: CampaignReport) -> PagePlot | None:
    """Return the heat map; None: no path ran."""
    wide, narrow = heat(campaign.timeline, *HEAT, WIDE, -60), heat(campaign.timeline, 16, 10, NARROW, -90)
    if wide is None or narrow is None:
        return None
    says = "tags by path: how many programs with a tag ran on a path, and how many show a finding there"
    return figure("heat", says, wide, narrow)


def refusal_figure(campaign: CampaignReport) -> PagePlot | None:
    """Return the plot of the reasons for refusals; None: torch refused no program."""
    modes = campaign.tally.exports.items()
    counts: dict[str, Counter[str]] = {}
    for mode, exports in modes:
        part = mode if mode in PARTS else PARTS[-1]
        for reason, number in exports.refusals.items():
            counts.setdefault(reason, Counter())[part] += number
    if not counts:
        return None
    order = sorted(counts, key=lambda reason: (-counts[reason].total(), reason))
    rows = []
    for reason in order[:BARS]:
        rows += _refused(reason, counts[reason])
    if rest := order[BARS:]:
        together: Counter[str] = Counter()
        for reason in rest:
            together.update(counts[reason])
        rows += _refused(f"{len(rest)} {OTHERS}", together)
    says = f"refusals by reason; most often {order[0]}, {counts[order[0]].total():,} times"
    return figure("refusals", says, bars(rows, WIDE, 330), bars(rows, NARROW, 150, 1))


def _refused(reason: str, counts: Counter[str]) -> list[Bar]:
    label = f"{counts.total():,}"
    return [
        Bar(reason, number, f"{reason}: {number:,} refusals, {part}", part, label)
        for part, number in sorted(counts.items(), key=lambda pair: PARTS.index(pair[0]))
    ]


def known_figure(campaign: CampaignReport, rates: Sequence[Rate]) -> PagePlot | None:
    """Return the plot of the most frequent known bugs, with their frequency in the campaign before."""
    counts = campaign.timeline.known().seen
    order = sorted(counts, key=lambda name: (-counts[name], name))[:BARS]
    if not order:
        return None
    before = {rate.name: rate for rate in rates}
    rows = []
    for name in order:
        number = counts[name]
        says = f"{name}: {number:,} programs"
        rows.append(Bar(name, number, says, label=f"{number:,}", before=_scaled(before.get(name))))
    says = f"the known bugs that most programs show; first {order[0]}"
    return figure("known", says, bars(rows, WIDE, 420), bars(rows, NARROW, 150))


def _scaled(rate: Rate | None) -> float | None:
    """Return how many programs would show a bug now if it were as frequent as before."""
    return None if rate is None or not rate.before else rate.share_before * rate.of_now


def change_figure(rates: Sequence[Rate]) -> PagePlot | None:
    """Return the plot of the known bugs whose frequency changed; None: chance explains all changes."""
    changed = [rate for rate in rates if rate.changed][:BARS]
    if not changed:
        return None
    rows = [
        Bar(
            rate.name,
            100 * rate.share,
            f"{rate.name}: {rate.share_before:.1%} of the programs before, {rate.share:.1%} now",
            label=f"{rate.share_before:.1%} → {rate.share:.1%}",
            before=100 * rate.share_before,
        )
        for rate in changed
    ]
    says = "the known bugs whose frequency changed by more than chance"
    return figure("changes", says, bars(rows, WIDE, 420), bars(rows, NARROW, 130))

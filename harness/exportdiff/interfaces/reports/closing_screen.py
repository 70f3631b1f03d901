"""The end of a campaign on one screen: the most important findings, and where everything else is.

A message may be cut to the width of the screen. A path, a name or a command is never cut, so that it can be
pasted: it is left out and counted, or the terminal wraps it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from exportdiff.fuzzing.around.drawing import REFUSED
from exportdiff.fuzzing.campaign.final_minimizing import NO_TIME
from exportdiff.interfaces.reports.commands import show_command
from exportdiff.interfaces.reports.displayed_findings import displayed_findings
from exportdiff.interfaces.reports.torch_comparison import comparison_lines
from exportdiff.interfaces.wording import counted
from exportdiff.known.corpus.entry import OPEN, read_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from exportdiff.interfaces.reports.campaign_report import CampaignReport
    from exportdiff.interfaces.reports.displayed_findings import DisplayedFinding, FindingKind
    from exportdiff.interfaces.reports.folder import Folder
    from exportdiff.interfaces.reports.tally import Tally

BLOCKS = 5
"""How many findings are shown: of the regressions of torch, and of the others. The rest is counted."""
FREQUENT = 2
"""How many known bugs are named; summary.json has all."""
STYLES: dict[FindingKind, str] = {
    "torch regression": "bold red",
    "new": "bold red",
    "masked": "bold yellow",
}
"""The kinds of findings that get a block."""


def end_lines(campaign: CampaignReport, folder: Folder, width: int) -> Iterator[Text]:
    """Yield what a campaign prints at its end."""
    tally = campaign.tally
    found = [each for each in displayed_findings(campaign, [folder]) if each.kind in STYLES]
    worse = [each for each in found if each.kind == "torch regression"]
    others = [each for each in found if each.kind != "torch regression"]
    yield from _blocks(worse, "more regression of torch", folder, width)
    yield from _blocks(others, "more finding", folder, width)
    yield from _regressions(tally, width)
    yield from _left_undone(tally)
    yield from _known(tally)
    yield from comparison_lines(tally)
    yield from _refused_situations(tally, width)
    refused = [f"{mode} {each.refused} of {each.programs}" for mode, each in tally.refused_exports.items()]
    if refused:
        head, tail = "export refused: ", "; reasons: summary.json"
        yield Text(head + fitted(refused, width - len(head) - len(tail)) + tail)
    if why := campaign.why_nothing_was_judged():
        yield Text(why, style="bold yellow")
    yield from _counts(campaign, width)
    if not others and (started := tally.started):
        command = show_command(started.seed, 0, started.profile, started.around, started.near)
        yield Text(f"see a program with: {command}")
    yield Text(f"files: {folder.root}: findings/, summary.json, events.ndjson")


def _blocks(found: list[DisplayedFinding], more: str, folder: Folder, width: int) -> Iterator[Text]:
    for each in found[:BLOCKS]:
        yield from _block(each, width)
    if rest := sum(len(each.keys) for each in found[BLOCKS:]):
        yield Text(f"and {counted(rest, more)}: {folder.findings}")


def _block(found: DisplayedFinding, width: int) -> Iterator[Text]:
    """Yield what differs, where, and the command that shows it."""
    what = Text(f"{found.kind}: {found.finding.title}")
    what.stylize(STYLES[found.kind], 0, len(found.kind))
    what.truncate(width, overflow="ellipsis")
    yield what
    where = [found.paths[0]]
    if len(found.paths) > 1:
        where.append(f"also on {counted(len(found.paths) - 1, 'more path')}")
    if found.remark:
        where.append("remark in summary.json")
    where += [found.elsewhere] * bool(found.elsewhere)
    where.append(f"{counted(found.programs, 'program')}, first {found.first}")
    where += [f"known as {', '.join(found.causes)}"] * bool(found.causes)
    yield Text("  " + fitted(where, width - 2, "; ", count=False), style="dim")
    yield Text(f"  $ {found.command}", style="cyan")


def _regressions(tally: Tally, width: int) -> Iterator[Text]:
    names = {name for each in tally.of_kind("regression").values() for name in each.classification.fixes}
    if names:
        head = "regressions of fixes: "
        yield Text(head + fitted(sorted(names), width - len(head)), style="yellow")


def _left_undone(tally: Tally) -> Iterator[Text]:
    reasons = list(tally.not_minimized.values())
    late = reasons.count(NO_TIME)
    if late == len(reasons):
        line = f"not minimized for lack of time: {late} (--minimize-total)"
    else:
        line = f"not minimized: {len(reasons)}, {late} of them for lack of time; see summary.json"
    if reasons:
        yield Text(line, style="yellow")
    dropped = [f"{number} {kind}" for kind, number in tally.unconfirmed_by_class.items() if number]
    if dropped:
        yield Text(f"not counted, because no fresh process shows it: {', '.join(dropped)}", style="dim")
    for name, number in sorted(tally.failed_fixes.items()):
        programs = counted(number, "program")
        yield Text(f"the fix {name} fails on {programs}, judged without fixes", style="yellow")


def _known(tally: Tally) -> Iterator[Text]:
    if not tally.known:
        return
    often = sorted(tally.known, key=lambda name: -tally.occurrences[name])
    sample = f", searched in {tally.sampled} of {counted(tally.examples, 'program')}"
    sample *= tally.sampled < tally.examples
    yield Text(f"known: {counted(len(often), 'bug')}{sample}; all in summary.json")
    number = tally.known_by
    if number["resemblance"]:
        line = f"  explained by fix: {number['fix']}, by resemblance to an entry: {number['resemblance']}"
        yield Text(line, style="dim")
    if tally.known_fixed:
        yield Text(f"  fixed in a newer torch: {tally.known_fixed}", style="dim")
    for name in often[:FREQUENT]:
        named = " ".join(filter(None, (_id(tally, name), name)))
        yield Text(f"  {counted(tally.occurrences[name], 'program')}: {named}", style="dim")


def _id(tally: Tally, name: str) -> str:
    """Return the id of a known bug; empty if its entry has none, or is not here."""
    return read_entry(tally.corpora / OPEN / f"{tally.known[name].entry}.py").id


def _refused_situations(tally: Tally, width: int) -> Iterator[Text]:
    """Yield how often a situation was left out, because eager does not run the model in it."""
    counts = [
        f"{tag.removeprefix(REFUSED)} {number}"
        for tag, number in tally.tags.most_common()
        if tag.startswith(REFUSED)
    ]
    if counts:
        head = "left out, because eager refuses them: "
        yield Text(head + fitted(counts, width - len(head)), style="dim")


def _counts(campaign: CampaignReport, width: int) -> Iterator[Text]:
    tally, finished = campaign.tally, campaign.tally.finished
    seconds = (finished.fuzzing or finished.at) if finished else 0.0
    rate = f", {tally.examples / seconds:.1f}/s" if seconds else ""
    if finished and finished.given_up:
        rate += f" ({finished.given_up} unfinished)"
    parts = (f"{counted(tally.examples, 'program')} in {seconds:.0f} s{rate}:", campaign.counts())
    line = " ".join(parts)
    yield from (Text(part, style="bold") for part in ((line,) if len(line) <= width else parts))


def fitted(parts: Iterable[str], width: int, comma: str = ", ", *, count: bool = True) -> str:
    """Join the first part and as many others as fit; with ``count``, say how many are left out."""
    first, *others = parts
    line, taken = first, 1
    for number, part in enumerate(others, 2):
        rest = f" and {len(others) + 1 - number} more" if count and number <= len(others) else ""
        if len(line + comma + part + rest) > width:
            break
        line, taken = line + comma + part, number
    left = len(others) + 1 - taken
    return f"{line} and {left} more" if count and left else line

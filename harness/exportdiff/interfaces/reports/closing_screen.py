"""The end of a campaign on one screen: the findings that matter most, and where everything else is.

A message may be cut to the width of the screen. A path, a name or a command is never cut: it is left out and
counted, or the terminal wraps it, so that it can be pasted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from exportdiff.fuzzing.around.drawing import REFUSED
from exportdiff.fuzzing.campaign.final_minimizing import NO_TIME
from exportdiff.interfaces.reports.commands import repro_command, show_command
from exportdiff.interfaces.reports.torch_comparison import against_lines, regression_lines, result_elsewhere
from exportdiff.interfaces.wording import counted
from exportdiff.judging.checks.importance import harmlessness

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from exportdiff.interfaces.reports.folder import Folder
    from exportdiff.interfaces.reports.tally import TalliedFinding, Tally
    from exportdiff.known.attribution.classification import ClassificationKind

BLOCKS = 5
"""How many findings are shown; the others are counted."""
FREQUENT = 2
"""How many known bugs are named; summary.json has all."""
STYLES: dict[ClassificationKind, str] = {"new": "bold red", "masked": "bold yellow"}
"""The kinds of findings that get a block, the most important first."""


@dataclass(frozen=True)
class FindingGroup:
    """Findings of one signature on several paths: one block."""

    kind: ClassificationKind
    key: str
    """Of the finding that stands for the group, in ``Tally.shown``."""
    shown: TalliedFinding
    findings: int
    paths: int
    programs: int
    """How many programs show the finding that stands for the group."""


def groups(tally: Tally) -> list[FindingGroup]:
    """Return the new findings, then the masked ones; of each kind the most harmful first.

    Of the equally harmful, first what most programs show.
    """
    same: dict[tuple[str, ...], list[str]] = {}
    for key, shown in tally.shown.items():
        if shown.classification.kind in STYLES:
            same.setdefault((shown.classification.kind, *shown.finding.signature), []).append(key)
    order = list(STYLES)
    return sorted(
        (_group(tally, keys) for keys in same.values()),
        key=lambda each: (
            order.index(each.kind),
            harmlessness(each.shown.finding),
            -each.programs,
            each.shown.first_example,
            each.key,
        ),
    )


def _group(tally: Tally, keys: list[str]) -> FindingGroup:
    key = max(keys, key=lambda each: tally.occurrences[each])
    shown = tally.shown[key]
    paths = {path for each in keys for path in tally.shown[each].finding.shown_on}
    return FindingGroup(shown.classification.kind, key, shown, len(keys), len(paths), tally.occurrences[key])


def end_lines(tally: Tally, folder: Folder, width: int) -> Iterator[Text]:
    """Yield what a campaign prints at its end."""
    yield from regression_lines(tally, folder, width)
    found = groups(tally)
    for group in found[:BLOCKS]:
        yield from _block(group, tally, folder, width)
    more = sum(group.findings for group in found[BLOCKS:])
    if more:
        yield Text(f"and {counted(more, 'more finding')}: {folder.findings}")
    yield from _regressions(tally, width)
    yield from _left_undone(tally)
    yield from _known(tally)
    yield from against_lines(tally)
    yield from _refused_situations(tally, width)
    refused = [
        f"{mode} {each.refused} of {each.programs}"
        for mode, each in tally.exports.items()
        if each.refused and "+" not in mode
    ]
    if refused:
        head, tail = "export refused: ", "; reasons: summary.json"
        yield Text(head + fitted(refused, width - len(head) - len(tail)) + tail)
    yield from _counts(tally, width)
    if not found:
        started = tally.started
        command = (
            show_command(started.seed, 0, started.profile, started.around) if started else "exportdiff show"
        )
        yield Text(f"see a program with: {command}")
    yield Text(f"files: {folder.root}: findings/, summary.json, events.ndjson")


def _block(group: FindingGroup, tally: Tally, folder: Folder, width: int) -> Iterator[Text]:
    """Yield what differs, where, and the command that shows it."""
    finding = group.shown.finding
    what = Text(f"{group.kind}: {finding.title}")
    what.stylize(STYLES[group.kind], 0, len(group.kind))
    what.truncate(width, overflow="ellipsis")
    yield what
    where = [str(finding.path)]
    if group.paths > 1:
        where.append(f"also on {counted(group.paths - 1, 'more path')}")
    if group.shown.remark:
        where.append("remark in summary.json")
    where += filter(None, [result_elsewhere(tally, group.key)])
    where.append(f"{counted(group.programs, 'program')}, first {group.shown.first_example}")
    yield Text("  " + fitted(where, width - 2, "; ", count=False), style="dim")
    command = repro_command(folder.repro(group.key), group.shown.classification.fixes, tally.corpora)
    yield Text(f"  $ {command}", style="cyan")


def _regressions(tally: Tally, width: int) -> Iterator[Text]:
    names = {name for shown in tally.of_kind("regression").values() for name in shown.classification.fixes}
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
    for name, number in sorted(tally.lifted.items()):
        programs = counted(number, "program")
        yield Text(f"the fix {name} fails on {programs}, judged without fixes", style="yellow")


def _known(tally: Tally) -> Iterator[Text]:
    if not tally.known:
        return
    often = sorted(tally.known, key=lambda name: -tally.occurrences[name])
    sample = f", counted on {tally.sampled} of {counted(tally.examples, 'program')}"
    sample *= tally.sampled < tally.examples
    yield Text(f"known: {counted(len(often), 'bug')}{sample}; all in summary.json")
    number = tally.known_by
    if number["resemblance"]:
        line = f"  explained by fix: {number['fix']}, by resemblance to an entry: {number['resemblance']}"
        yield Text(line, style="dim")
    for name in often[:FREQUENT]:
        yield Text(f"  {counted(tally.occurrences[name], 'program')}: {name}", style="dim")


def _refused_situations(tally: Tally, width: int) -> Iterator[Text]:
    """Yield how often eager did not run the model in a situation, so that it was left out."""
    counts = [
        f"{tag.removeprefix(REFUSED)} {number}"
        for tag, number in tally.tags.most_common()
        if tag.startswith(REFUSED)
    ]
    if counts:
        head = "left out, because eager refuses them: "
        yield Text(head + fitted(counts, width - len(head)), style="dim")


def _counts(tally: Tally, width: int) -> Iterator[Text]:
    finished = tally.finished
    seconds = (finished.fuzzing or finished.at) if finished else 0.0
    rate = f", {tally.examples / seconds:.1f}/s" if seconds else ""
    if finished and finished.given_up:
        rate += f" ({finished.given_up} unfinished)"
    kinds = f"{tally.new} new, {len(tally.of_kind('masked'))} masked"
    wrong = counted(len(tally.of_kind("regression")), "regression")
    parts = (f"{counted(tally.examples, 'program')} in {seconds:.0f} s{rate}:", f"{kinds}, {wrong}")
    line = " ".join(parts)
    yield from (Text(part, style="bold") for part in ((line,) if len(line) <= width else parts))


def fitted(parts: Iterable[str], width: int, comma: str = ", ", *, count: bool = True) -> str:
    """Join the first part and as many others as fit; say how many are left out, if ``count`` is set."""
    first, *others = parts
    line, taken = first, 1
    for number, part in enumerate(others, 2):
        rest = f" and {len(others) + 1 - number} more" if count and number <= len(others) else ""
        if len(line + comma + part + rest) > width:
            break
        line, taken = line + comma + part, number
    left = len(others) + 1 - taken
    return f"{line} and {left} more" if count and left else line

"""The text about the exports of a test suite: new differences first, then known bugs, then the counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.interfaces.reports.text import headline, wrapped
from exportdiff.interfaces.suites.apis import APIS
from exportdiff.interfaces.wording import counted, span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from exportdiff.interfaces.checking.found import Explanation, Found
    from exportdiff.interfaces.suites.judged_call import CallOutcome
    from exportdiff.interfaces.suites.tally import Row, SuiteTally

PLACES = 4
"""How many places are named for one difference, bug or reason; JSON has all."""

HEADINGS: dict[Explanation, str] = {
    "new": "differences that no known bug explains",
    "not explained": "differences that were not explained, because the time limit of the call ended first",
}


def suite_lines(tally: SuiteTally) -> Iterator[str]:
    """Yield the lines of the section."""
    for explanation, heading in HEADINGS.items():
        groups = _groups(tally, explanation)
        if groups:
            yield f"{heading}: {len(groups)}"
            yield ""
        for group in groups:
            yield from _difference(group)
            yield ""
    yield from _known(tally)
    yield from _not_judged(tally)
    yield from _counts(tally)


def _groups(tally: SuiteTally, explanation: Explanation) -> list[list[tuple[Row, Found]]]:
    """Return findings that look alike in groups, the most frequent first."""
    groups: dict[object, list[tuple[Row, Found]]] = {}
    for row, found in tally.found():
        if found.explanation == explanation:
            groups.setdefault(found.finding.signature, []).append((row, found))
    return sorted(groups.values(), key=len, reverse=True)


def _difference(group: list[tuple[Row, Found]]) -> Iterator[str]:
    row, found = group[0]
    yield headline(found.finding)
    yield from (f"    {line}" for line in wrapped(found.finding.message.strip()).splitlines())
    if found.remark:
        yield f"    remark: {found.remark}"
    subject = row.call.subject
    if subject is not None:
        yield wrapped(f"    {row.call.place.api}: {subject.model}({subject.inputs})")
    yield f"    at {_place(row)}{_of_test(row)}"
    yield from _also(f"    also at: {each}" for each in _places(row for row, _ in group[1:]))


def _also(lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        if number == PLACES:
            yield "    and more"
            return
        yield line


def _place(row: Row) -> str:
    return f"{row.call.place.file}:{row.call.place.line}"


def _of_test(row: Row) -> str:
    return f" ({row.tests[0]})" if row.tests else ""


def _places(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(map(_place, rows)))


def _known(tally: SuiteTally) -> Iterator[str]:
    bugs: dict[str, tuple[str, list[Row]]] = {}
    for row, found in tally.found():
        for cause in found.named:
            bug = cause.bug
            name = bug.id if bug is not None and bug.id else cause.root
            bugs.setdefault(name, (bug.title if bug is not None else "", []))[1].append(row)
    if not bugs:
        return
    yield f"known bugs of torch: {len(bugs)}"
    for name, (title, rows) in sorted(bugs.items(), key=lambda each: (-len(each[1][1]), each[0])):
        yield wrapped(f"  {name} {title}: {_listed(_places(rows))}")
    yield "  to read about one: exportdiff known ID"
    yield ""


def _not_judged(tally: SuiteTally) -> Iterator[str]:
    reasons = tally.reasons
    if not reasons:
        return
    yield f"not judged: {sum(reasons.values())}"
    for reason, number in reasons.most_common():
        rows = [
            each for each in tally.of("not judged") if (why := each.call.why_not) and why.reason == reason
        ]
        yield wrapped(f"  {number} {reason}: {_listed(_places(rows))}")
    yield ""


def _listed(places: list[str]) -> str:
    more = f" and {len(places) - PLACES} more" if len(places) > PLACES else ""
    return ", ".join(places[:PLACES]) + more


def _counts(tally: SuiteTally) -> Iterator[str]:
    different, judged = len(tally.rows), tally.judged
    if not different:
        yield f"the command called none of {', '.join(map(str, APIS))}, so nothing was compared"
        return
    seconds = sum(each.call.seconds for each in tally.rows)
    share = f"{judged} judged ({judged / different:.0%})"
    yield f"{counted(tally.calls, 'call')}, {different} different, {share} in {span(seconds)}"
    names: dict[CallOutcome, str] = {
        "agrees": "agree with eager",
        "refused": "refused by torch",
        "known": "show known bugs only",
        "new": "show a new difference",
        "not explained": "differ, not explained in time",
        "not judged": "not judged",
    }
    yield ", ".join(f"{len(tally.of(each))} {text}" for each, text in names.items() if tally.of(each))

"""The rediscovery curve: root causes that a campaign with an empty corpus finds, against its CPU time."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from exportdiff.known.corpus.severity import Severity
from exportdiff.lab.bench.figures import Figure, Result
from exportdiff.lab.bench.first_shown import first_shown
from exportdiff.lab.bench.roots import all_roots

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from exportdiff.lab.bench.context import Context
    from exportdiff.lab.bench.records import Record

SHARES = (50, 80, 90)
Curve = list[tuple[float, int]]


def measure(context: Context) -> Result:
    """Judge with no fix in place and no corpus, and afterwards attribute every finding by the corpus."""
    if context.corpora is None:
        return Result((Figure("root causes found", None, note="there is no corpora/ here"),))
    records = context.default.records
    roots = all_roots(context.corpora)
    shown = first_shown(records, context.corpora, context.workers)
    judged, records = len(records), records[: shown.programs]
    first = shown.roots
    points = curve(records, first, roots.keys())
    cpu = sum(record.cpu for record in records)
    found = points[-1][1] if points else 0
    per_minute = 60 * found / cpu if cpu else None
    figures = [
        Figure(
            "root causes found",
            found,
            f"of {len(roots)}",
            note=f"in {cpu:.0f} CPU s, {len(records)} programs{_cut(len(records), judged)}",
        ),
        Figure("root causes a CPU minute", per_minute, "/min", note="over the measured start of the curve"),
        *(_time_to(share, points, len(roots), cpu) for share in SHARES),
    ]
    examples = {root: index for index, names in first.items() for root in sorted(names & roots.keys())}
    figures.extend(by_severity(roots, examples.keys()))
    data = {
        "curve": [[round(seconds, 2), number] for seconds, number in points],
        "first_example": examples,
        "missing": sorted(roots.keys() - examples.keys()),
    }
    return Result(tuple(figures), data=data, interrupted=shown.interrupted)


def _cut(attributed: int, judged: int) -> str:
    """Say that the curve ends early: the programs after it were judged and not attributed."""
    return "" if attributed == judged else f"; interrupted: {judged} were judged"


def by_severity(roots: Mapping[str, Severity | None], found: Collection[str]) -> Iterator[Figure]:
    """Say how many root causes of each severity are found: the corpus grows, mostly by rare ones."""
    for severity in get_args(Severity):
        names = [name for name, rated in roots.items() if rated == severity]
        if names:
            yield Figure(f"of severity {severity}", len(set(names).intersection(found)), f"of {len(names)}")


def curve(records: Sequence[Record], first: Mapping[int, frozenset[str]], roots: Collection[str]) -> Curve:
    """Return (CPU seconds, root causes found so far) after each program that adds one.

    ``first``: by the index of a program, the root causes that it is the first to show.
    """
    points: Curve = []
    cpu, found = 0.0, 0
    for record in records:
        cpu += record.cpu
        if new := first.get(record.index, frozenset()).intersection(roots):
            found += len(new)
            points.append((cpu, found))
    return points


def seconds_to(share: int, points: Curve, total: int) -> float | None:
    """Return the CPU seconds until ``share`` percent of the root causes are found; None: not reached."""
    return next((seconds for seconds, number in points if 100 * number >= share * total), None)


def _time_to(share: int, points: Curve, total: int, cpu: float) -> Figure:
    seconds = seconds_to(share, points, total)
    wanted = "<= 1440 CPU s" if share == 80 else ""
    note = "" if seconds is not None else f"not reached in {cpu:.0f} CPU s"
    return Figure(f"CPU time to {share} % of the corpus", seconds, "s", wanted, note=note)

"""Where CPU pays: root causes for each CPU second, by path, by size of program, by kind of call, by profile.

Without a corpus, distinct signatures stand for root causes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exportdiff.core.programs import profile_names
from exportdiff.fuzzing.campaign.worker import Job
from exportdiff.judging.checks.aliasing import WriteDiffers, WriteRefused, WriteShows
from exportdiff.lab.bench.figures import Figure, Result, Rows
from exportdiff.lab.bench.records import run_records, with_roots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from exportdiff.core.finding import Finding
    from exportdiff.lab.bench.context import Context
    from exportdiff.lab.bench.records import Record

STEPS = (4, 8, 16, 32, 64)
CHEAPEST = ("nonstrict:module", "nonstrict:unflatten")


@dataclass
class Spent:
    """What one path or one group of programs cost and found."""

    runs: int = 0
    cpu: float = 0.0
    found: Counter[str] = field(default_factory=Counter)
    """How many programs showed each root cause."""


def measure(context: Context) -> Result:
    """Add up the records of the default paths; with ``--full``, judge programs of each profile as well."""
    records = context.attributed.records
    by_path = paths_of(records)
    tables = [
        _table("yield by path", by_path),
        _table("yield by statements", grouped(records, lambda each: _step(each.shape.statements))),
        _table("yield by calls on self", grouped(records, lambda each: _step(each.shape.calls))),
        _calls(records),
    ]
    if context.scale.profile_programs:
        tables.append(_table("yield by profile", _profiles(context)))
    return Result((_beyond_core(by_path),), tuple(tables))


def names(record: Record, finding: Finding) -> frozenset[str]:
    """Return the root causes of a finding; its signature where the corpus does not know it."""
    return record.roots.get(finding.fingerprint) or frozenset({" ".join(finding.signature)})


def paths_of(records: Sequence[Record]) -> dict[str, Spent]:
    """Return what each path cost and found; the first path that shares an export pays for it."""
    spent: dict[str, Spent] = defaultdict(Spent)
    for record in records:
        shown: dict[str, set[str]] = defaultdict(set)
        for finding in record.findings:
            for path in finding.shown_on:
                shown[str(path)] |= names(record, finding)
        for result in record.paths:
            each = spent[str(result.path)]
            each.runs += 1
            each.cpu += record.path_cpu.get(result.path, 0.0)
            each.found.update(shown[str(result.path)])
    return dict(spent)


def grouped(records: Sequence[Record], key: Callable[[Record], str]) -> dict[str, Spent]:
    """Return what the programs of each group cost and found."""
    spent: dict[str, Spent] = defaultdict(Spent)
    for record in records:
        each = spent[key(record)]
        each.runs += 1
        each.cpu += record.cpu
        each.found.update({name for finding in record.findings for name in names(record, finding)})
    return dict(sorted(spent.items()))


def _step(size: int) -> str:
    low = max((step for step in STEPS if step < size), default=0)
    high = min((step for step in STEPS if step >= size), default=None)
    return f"{low + 1:3}-{high}" if high is not None else f"{low + 1:3}-"


def _table(title: str, spent: dict[str, Spent]) -> Rows:
    alone = _only_here(spent.values())
    rows = [
        (
            name.removesuffix("@cpu"),
            each.runs,
            f"{1000 * each.cpu / each.runs:.0f}",
            sum(each.found.values()),
            len(each.found),
            sum(found in alone for found in each.found),
            f"{len(each.found) / each.cpu:.2f}" if each.cpu else "-",
        )
        for name, each in spent.items()
    ]
    header = ("", "runs", "ms each", "shown", "causes", "only here", "causes/CPU s")
    return Rows(title, header, tuple(rows))


def _only_here(spent: Iterable[Spent]) -> set[str]:
    groups = Counter(name for each in spent for name in each.found)
    return {name for name, number in groups.items() if number == 1}


def _calls(records: Sequence[Record]) -> Rows:
    """By the kind of call that shows a finding; with the CPU of the calls of this kind, where it is known."""
    shown: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        for finding in record.findings:
            shown[kind_of(finding)].update(names(record, finding))
    cpu: Counter[str] = Counter()
    for record in records:
        cpu.update(record.parts)
    groups = Counter(name for found in shown.values() for name in found)
    rows: list[tuple[object, ...]] = [
        (
            kind,
            sum(found.values()),
            len(found),
            sum(groups[name] == 1 for name in found),
            f"{cpu[kind]:.1f}" if kind in cpu else "-",
        )
        for kind, found in sorted(shown.items())
    ]
    rows += [(part, "-", "-", "-", f"{cpu[part]:.1f}") for part in sorted(cpu.keys() - shown.keys())]
    return Rows("yield by kind of call", ("", "shown", "causes", "only here", "CPU s"), tuple(rows))


def kind_of(finding: Finding) -> str:
    """Say which kind of call shows a finding; ``mutation probes`` are the writes to outputs at the end."""
    if finding.evidence.in_deviating_call:
        return "deviating calls"
    if finding.check == "gradients":
        return "gradients"
    if finding.check == "fake":
        return "fake tensors"
    if isinstance(finding.evidence, WriteShows | WriteDiffers | WriteRefused):
        return "mutation probes"
    if finding.probe:
        return "calls of other sizes"
    return "no call" if finding.call is None else f"call {finding.call}"


def _profiles(context: Context) -> dict[str, Spent]:
    return dict(_each_profile(context))


def _each_profile(context: Context) -> Iterator[tuple[str, Spent]]:
    for profile in profile_names():
        records = run_records(
            Job(context.seed, context.default_paths, profile),
            programs=context.scale.profile_programs,
            cpu_seconds=float("inf"),
            workers=context.workers,
        ).records
        if context.corpora is not None:
            records = with_roots(records, context.corpora, context.workers)
        yield from grouped(records, lambda _, name=profile: name).items()  # type: ignore[misc]  # mypy infers no type for a lambda with a default


def _beyond_core(by_path: dict[str, Spent]) -> Figure:
    """Count the causes that no core path of the cheapest mode shows, and the CPU of all other paths."""
    core = [spent for path, spent in by_path.items() if path.removesuffix("@cpu") in CHEAPEST]
    others = [spent for path, spent in by_path.items() if path.removesuffix("@cpu") not in CHEAPEST]
    there = set().union(*(spent.found for spent in core))
    only = set().union(*(spent.found for spent in others)) - there
    cpu = sum(spent.cpu for spent in others)
    total = cpu + sum(spent.cpu for spent in core)
    note = (
        f"{len(there)} causes on nonstrict:*, which takes {100 * (1 - cpu / total):.0f} % of the CPU"
        if total
        else ""
    )
    return Figure("causes seen only beyond nonstrict:*", len(only), note=note)

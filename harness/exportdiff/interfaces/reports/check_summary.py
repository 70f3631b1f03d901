"""The end of the report on one model: what was not compared, the outcomes in a line, and what to do next."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from exportdiff.core.listing import listed
from exportdiff.interfaces.checking.default_paths import BY_DEFAULT
from exportdiff.interfaces.checking.found import PROPERTIES
from exportdiff.interfaces.reports.commands import has_command
from exportdiff.interfaces.reports.known_bug_lines import file_of_bug
from exportdiff.interfaces.reports.text import TEXT_WIDTH
from exportdiff.interfaces.wording import counted
from exportdiff.runtime.paths.backends import product

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Iterator, Sequence

    from exportdiff.interfaces.checking.found import FailOn, Found
    from exportdiff.interfaces.checking.outcomes import Outcomes, PathOutcome
    from exportdiff.interfaces.checking.report import Report

NAMED = 3
"""How many paths a line names; the others are counted, and have a row each."""
SAID = 6
"""How many lines of a refusal are printed: the first one may only say which constraint is violated."""


def left_out(outcomes: Outcomes) -> Iterator[str]:
    """Yield why paths were refused or not judged: each reason once, with its paths."""
    for (refusing, reason), paths in _grouped(outcomes.of("refused")).items():
        yield f"{refusing} refuses {_named(paths)}: {reason}"
        yield from (f"  {line}" for line in paths[0].message.splitlines()[:SAID] if line.strip())
        if paths[0].source:
            yield f"  documented: {paths[0].source}"
    for (_, reason), paths in _grouped(outcomes.of("not judged")).items():
        yield f"not judged: {_named(paths)}: {reason}"


def _grouped(paths: Sequence[PathOutcome]) -> dict[tuple[str, str], list[PathOutcome]]:
    """Return the paths of each product (torch or a backend) and reason."""
    groups: dict[tuple[str, str], list[PathOutcome]] = {}
    for each in paths:
        groups.setdefault((product(each.path.mode), each.reason), []).append(each)
    return groups


def _named(paths: Sequence[PathOutcome]) -> str:
    """Return ``2 paths (strict:module, strict:unflatten)``."""
    names = [each.path.without_device for each in paths[:NAMED]]
    more = [f"{len(paths) - NAMED} more"] * (len(paths) > NAMED)
    return f"{counted(len(paths), 'path')} ({listed([*names, *more])})"


def summary(report: Report, fail_on: FailOn) -> Iterator[str]:
    """Yield the last lines but one: how many paths agree, and what fails or why nothing was judged."""
    outcomes, failing = report.outcomes, report.failing(fail_on)
    if report.unconfirmed:
        yield f"not counted, because a second process did not show them: {report.unconfirmed}"
    yield from outcomes.later_calls
    if accepted := sum(each.accepted for each in report.found):
        yield f"findings that the baseline accepts: {accepted}"
    if not outcomes.judged and not failing:
        refused = len(outcomes.of("refused"))
        all_refused = not outcomes.ended and refused == len(outcomes.paths) > 0
        paths = f"all {refused} paths refuse it" if refused > 1 else "the only path refuses it"
        why = paths if all_refused else report.why_unjudged()
        yield from _about(report.name, f" was not judged: {why}")
        return
    if differing := outcomes.of("differs"):
        yield f"{_named(differing)} {'differ' if len(differing) > 1 else 'differs'} from eager"
    yield _properties(outcomes)
    counts = report.agreement()
    if refused := outcomes.counts["refused"]:
        counts += f", {refused} refused"
    if left := outcomes.counts["not judged"]:
        counts += f", {left} not judged"
    unexplained = sum(each.explanation == "not explained" for each in failing)
    if unexplained and fail_on == "new":
        yield f"findings that were not explained, and fail because they may be new: {unexplained}"
    known = sum(each.known for each in failing)
    number = f"{counted(len(failing), 'finding')} ({known} from known bugs)"
    yield from _about(report.name, f": {counts}; {number if failing else 'nothing fails'}")


def _about(name: str, text: str) -> Iterator[str]:
    """Yield a sentence about the model; a name that is too long has a separate line."""
    if len(name + text) <= TEXT_WIDTH:
        yield name + text
    else:
        yield f"{name}:"
        yield f"  {text.lstrip(': ')}"


def _properties(outcomes: Outcomes) -> str:
    """Return ``values agree on 9 of 9 paths, metadata on 9 of 9, structure on 5 of 9``."""
    compared = [each for each in outcomes.paths if each.compared]
    counts = [sum(each.agrees_on(what) for each in compared) for what in PROPERTIES]
    first, *others = (
        f"{number} of {counted(len(compared), 'path') if not at else len(compared)}"
        for at, number in enumerate(counts)
    )
    rest = [f"{what} on {number}" for what, number in zip(PROPERTIES[1:], others, strict=True)]
    return ", ".join([f"{PROPERTIES[0]} agree on {first}", *rest])


def next_step(report: Report, fail_on: FailOn, corpora: pathlib.Path | None) -> tuple[str, str]:
    """Return what to do next, and the command, file or document for it; either may be empty."""
    outcomes, failing = report.outcomes, report.failing(fail_on)
    if failing:
        return _about_finding(report, failing, corpora)
    if report.invalid:
        return "correct the model or its inputs, and check it again", ""
    if report.stopped:
        return "give it more time, e.g. --limit 30m, or fewer paths with --paths", ""
    if not outcomes.judged and outcomes.of("refused"):
        return "change the model as the messages say, or try other paths", "exportdiff paths"
    if not outcomes.judged:
        return "choose other paths", "exportdiff paths"
    if {each.path.without_device for each in outcomes.paths} <= set(BY_DEFAULT):
        return "judge all paths (this takes minutes)", _command(report, "--all", 'paths="all"')
    return "let CI check it", "docs/guides/ci-and-baselines.md"


def _about_finding(report: Report, failing: Sequence[Found], corpora: pathlib.Path | None) -> tuple[str, str]:
    """Return how to learn more about a finding: first one that is not a known bug."""
    first = min(failing, key=lambda each: each.known)
    path = first.finding.path.without_device
    if not first.known and report.given.program is not None:
        return "export the model again; if it still differs, judge the export itself", (
            f"exportdiff check {shlex.quote(report.name)}"
        )
    if not first.known and has_command(report.name) and not report.given.options:
        return "write a short script for an issue", _command(report, f"--paths '{path}' --minimize 60s", "")
    entry = next((each.entry for each in first.causes if each.entry), "")
    if corpora is not None and entry:
        step = "read about the bug" + (", and what to write instead" if first.workarounds else "")
        return step, str(file_of_bug(corpora, entry))
    accept = _command(report, "--write-baseline accepted.json", 'accept="accepted.json"')
    return "correct the model, or accept what you know", accept


def _command(report: Report, options: str, argument: str) -> str:
    """Return the command with further options, or for an object the call with a further argument."""
    if has_command(report.name):
        return " ".join((f"exportdiff check {shlex.quote(report.name)}", *report.given.options, options))
    return f"exportdiff.compare(..., {argument})"

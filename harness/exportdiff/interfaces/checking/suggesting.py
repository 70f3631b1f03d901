"""Suggests changes that a program can make, and judges the user's model with them."""

from __future__ import annotations

import difflib
import pathlib
import sys
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from exportdiff.core.errors import UsageError
from exportdiff.interfaces.checking.in_subprocess import (
    LoadableModel,
    judge_in_subprocess,
    loadable_model,
)
from exportdiff.known.corpus.mechanical import edited_line
from exportdiff.runtime.processes import scratch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from exportdiff.core.case import Case
    from exportdiff.core.path import Path
    from exportdiff.core.target import Target
    from exportdiff.interfaces.checking.found import FailOn, Found
    from exportdiff.interfaces.checking.report import Report


@dataclass(frozen=True)
class Suggestion:
    """A change of the user's file, or of the call of export."""

    diff: str
    paths: int
    """How many paths were judged with the change; 0: it could not be judged."""
    agree: int
    """How many of them agree with eager."""
    agreed_before: int
    """How many of them agree without the change."""
    problem: str = ""
    """Why it could not be judged."""

    def as_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """Yield the diff, and what it is good for."""
        yield from self.diff.splitlines()
        if self.problem:
            yield f"not verified: {self.problem}"
        else:
            before = f"without it, {self.agreed_before}"
            yield f"with this change, {self.agree} of {self.paths} paths agree with eager; {before}"


def suggestions(
    report: Report, target: Target, shapes: object, threads: int, seconds: float, fail_on: FailOn
) -> tuple[Suggestion, ...]:
    """Return the changes for the findings that fail, each judged on the paths that it is about."""
    failing = report.failing(fail_on)
    compared = tuple(each.path for each in report.outcomes.paths if each.compared)
    judge = partial(_judged, shapes=shapes, threads=threads, seconds=seconds)
    return (
        *_of_lines(report, target, failing, compared, judge),
        *_of_options(report, target, failing, judge),
    )


def _of_lines(
    report: Report,
    target: Target,
    failing: Sequence[Found],
    paths: tuple[Path, ...],
    judge: Callable[..., Any],
) -> Iterator[Suggestion]:
    """Yield one change with all edits of lines of the user's file."""
    file = pathlib.Path(target.module).resolve()
    if not target.module.endswith(".py"):
        return
    source = edited = file.read_text(encoding="utf-8")
    for line, name in sorted(set(_edits(failing, file)), reverse=True):
        edited = edited_line(edited, line, name) or edited
    if edited == source:
        return
    diff = "\n".join(
        line.rstrip("\n")
        for line in difflib.unified_diff(
            source.splitlines(), edited.splitlines(), target.module, target.module, n=1, lineterm=""
        )
    )
    with scratch.make() as folder:
        other = pathlib.Path(folder, file.name)
        other.write_text(edited, encoding="utf-8")
        yield judge(report, replace(target, module=str(other)), paths, paths, diff, str(file.parent))


def _edits(failing: Sequence[Found], file: pathlib.Path) -> Iterator[tuple[int, str]]:
    """Yield the lines to edit, each with the name of its edit."""
    for found in failing:
        place = found.finding.first_difference
        if place is None or place.line is None or pathlib.Path(place.file).resolve() != file:
            continue
        for cause in found.causes:
            if cause.bug is not None and cause.bug.workaround is not None and cause.bug.workaround.edit:
                yield place.line, cause.bug.workaround.edit


def _of_options(
    report: Report, target: Target, failing: Sequence[Found], judge: Callable[..., Any]
) -> Iterator[Suggestion]:
    """Yield the change to non-strict export, if a workaround asks for it."""
    strict = tuple(
        dict.fromkeys(
            path
            for found in failing
            for cause in found.causes
            if cause.bug is not None and cause.bug.workaround is not None
            if ("strict", "False") in cause.bug.workaround.options
            for path in found.finding.shown_on
            if path.mode == "strict"
        )
    )
    if strict:
        others = tuple(replace(path, mode="nonstrict") for path in strict)
        diff = "- torch.export.export(..., strict=True)\n+ torch.export.export(..., strict=False)"
        yield judge(report, target, strict, others, diff, "")


def _judged(
    report: Report,
    target: Target,
    before: tuple[Path, ...],
    after: tuple[Path, ...],
    diff: str,
    folder: str,
    *,
    shapes: object,
    threads: int,
    seconds: float,
) -> Suggestion:
    agreed = sum(each.outcome == "agrees" for each in report.outcomes.paths if each.path in before)
    load = loadable_model(target, shapes, threads, report.given).load
    model = LoadableModel(target.written, partial(_load_from, folder, load))
    try:
        changed = judge_in_subprocess(model, after, seconds=seconds)
    except UsageError as error:
        return Suggestion(diff, 0, 0, agreed, str(error))
    if not changed.judged and not changed.found:
        return Suggestion(diff, 0, 0, agreed, changed.why_unjudged())
    return Suggestion(diff, len(after), changed.outcomes.counts["agrees"], agreed)


def _load_from(folder: str, load: Callable[[], Case]) -> Case:
    """Load a changed file, which may import from the folder of the original. Runs in child processes."""
    if folder:
        sys.path.insert(0, folder)
    return load()

"""Verifies a corpus entry: it shows its bug, passes with its fix, and is complete and short."""

from __future__ import annotations

import pathlib
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from exportdiff.core.finding import starts_with
from exportdiff.core.program_text.line_count import code_lines
from exportdiff.known.corpus.entry import EXPECTED, OPEN, missing_functions, read_entry
from exportdiff.known.corpus.first_difference import wrong_mark
from exportdiff.known.corpus.signatures import entry_signatures
from exportdiff.known.corpus.trigger import unknown
from exportdiff.known.corpus.workaround import (
    CALL,
    MODEL,
    OPTIONS,
    defined,
    read_workaround,
    without_workaround,
)
from exportdiff.runtime.patching.fixes import applied
from exportdiff.runtime.processes.child import Death, TaskFailure
from exportdiff.runtime.processes.in_child import call_fresh
from exportdiff.runtime.processes.script import run_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from exportdiff.known.corpus.entry import Entry
    from exportdiff.runtime.patching.fixes import Fix

MAX_LINES = 35
"""The most lines of code that an open entry may have: it fits on a screen, without header and docstring."""
SECONDS = 120.0
"""For each run."""


def problems(entry: Entry, fixes: Mapping[str, Fix], tags: Collection[str] = ()) -> Iterator[str]:
    """Yield a line for each thing that is wrong with an entry; ``tags``: all existing tags."""
    if entry.problem:
        yield entry.problem
        return
    run = run_file(entry.file, SECONDS)
    if run.problem or run.code != EXPECTED[entry.status]:
        yield run.problem or f"status is {entry.status}, but it exits with {run.code}: {run.last_line}"
        return
    if entry.status != "open":
        return
    yield from incomplete(entry, fixes, tags)
    if entry.fix in fixes:
        yield from _unmended(entry, fixes[entry.fix])
    if entry.has_workaround:
        yield from _wrong_workaround(entry)


def incomplete(entry: Entry, fixes: Mapping[str, Fix], tags: Collection[str]) -> Iterator[str]:
    """Yield a line for each thing that an open entry lacks, without running it."""
    wanted: dict[str, object] = {
        "title": entry.title,
        "path": entry.path,
        "check": entry.check,
        "kind": entry.kind,
        "signatures": entry.signatures or entry.undetected_because,
        "versions": entry.versions.rows,
        "at-fault": entry.at_fault,
    }
    if not entry.variant_of:
        wanted |= {"id": entry.id, "harm": entry.harm or "", "reach": entry.reach or ""}
        wanted |= {"reach-because": entry.reach_because, "topics": entry.topics, "cause": entry.cause}
        if entry.reach == "everyday":
            wanted["evidence"] = entry.evidence
    elif not (entry.file.parents[1] / OPEN / f"{entry.variant_of}.py").exists():
        yield f"is a variant of {entry.variant_of!r}, which is no open entry"
    for name, value in wanted.items():
        if not value:
            yield f"[tool.exportdiff] has no {name}"
    if entry.upstream is None:
        yield 'has no upstream: the thread that knows the bug, or "" if none was found'
    source = entry.file.read_text(encoding="utf-8")
    for function in missing_functions(source):
        yield f"defines no {function}"
    if problem := wrong_mark(source):
        yield problem
    yield from _workaround_missing(entry, source)
    size = code_lines(without_workaround(source))
    if size > MAX_LINES:
        yield f"has {size} lines of code; at most {MAX_LINES}"
    if entry.fix and entry.fix not in fixes:
        yield f"names the fix {entry.fix!r}; there is no corpora/fixes/{entry.fix}.patch"
    if bool(entry.fix) + bool(entry.trigger) != 1 and not (entry.undetected_because and not entry.fix):
        yield "needs either a fix or a trigger"
    for tag in unknown(entry.trigger, tags) if tags else ():
        yield f"has {tag!r} in its trigger, which is not a tag (exportdiff features lists them)"


def _workaround_missing(entry: Entry, source: str) -> Iterator[str]:
    functions = defined(source)
    if entry.severity in {"A", "B"} and not entry.has_workaround and not entry.no_workaround:
        yield f'has severity {entry.severity} and no workaround: "code", or "none: REASON"'
    if entry.has_workaround != bool(functions):
        yield f'has workaround = "code" or the functions {", ".join((MODEL, OPTIONS, CALL))}, but not both'
    workaround = read_workaround(entry) if functions else None
    if workaround is not None and not workaround.advice.endswith("."):
        yield f"does not say in the docstring of {functions[0]}() what to do, in a sentence"


def _unmended(entry: Entry, fix: Fix) -> Iterator[str]:
    run = run_file(entry.file, SECONDS, partial(applied, (fix,)))
    if run.problem or run.code != 0:
        yield f"still there with the fix {fix.name}: {run.problem or run.last_line}"
    answer = call_fresh(
        SECONDS,
        entry_signatures,
        entry.file.absolute(),
        entry.path,
        (fix,),
        True,
        # On compiled paths, campaigns make few of the calls that leave the spec: the bug may be in another.
        entry.shows_after_refusal or entry.path.startswith("compile"),
    )
    if isinstance(answer, Death | TaskFailure):
        reason = answer.reason if isinstance(answer, Death) else str(answer.error)
        yield f"judging it with the fix {fix.name} ends in {reason}"
        return
    for start in entry.signatures:
        if any(starts_with(signature, start) for signature in answer):
            yield f"the checks still report {list(start)} with the fix {fix.name}"


def _wrong_workaround(entry: Entry) -> Iterator[str]:
    answer = call_fresh(SECONDS, _workaround_problems, replace(entry, file=entry.file.absolute()))
    if isinstance(answer, Death | TaskFailure):
        reason = answer.reason if isinstance(answer, Death) else str(answer.error)
        yield f"judging it with the workaround ends in {reason}"
        return
    yield from (f"the workaround is wrong: {problem}" for problem in answer)


def _workaround_problems(entry: Entry) -> list[str]:
    from exportdiff.known.corpus.verify_workaround import workaround_problems  # it imports torch

    return workaround_problems(entry)


def verify_file(file: pathlib.Path, fixes: Mapping[str, Fix], tags: Collection[str] = ()) -> list[str]:
    """Read and verify one file."""
    return list(problems(read_entry(file), fixes, tags))

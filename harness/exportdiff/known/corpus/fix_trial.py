"""Tries the fixes of a corpus on the installed torch: their entries run without them and with them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

from exportdiff.known.corpus.fix_trials import Row
from exportdiff.runtime.patching.fixes import applied, choose_patch, find_functions, why_not_applicable
from exportdiff.runtime.processes.script import Run, run_file
from exportdiff.runtime.processes.server import server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from exportdiff.known.corpus.entry import Entry
    from exportdiff.known.corpus.fix_trials import Status, Subject
    from exportdiff.runtime.patching.fixes import Fix

SECONDS = 120.0
"""For each run of an entry."""


def try_fixes(
    found: Sequence[Subject], workers: int, tell: Callable[[Row], None] = lambda row: None
) -> Iterator[Row]:
    """Yield a row for each fix, in their order; rows that are kept already cost nothing.

    ``tell`` gets each row as soon as it is there.
    """
    server()  # before the threads
    missing = [each for each in found if each.row is None]
    find_functions(fix for each in missing for fix in each.candidates)
    # Here, because it imports what the fixes change: threads would do that at the same time.
    choice = {each.name: (fix := choose_patch(each.candidates), why_not_applicable(fix)) for each in missing}
    with ThreadPoolExecutor(workers) as pool:

        def row(subject: Subject) -> Row:
            kept = subject.row
            if kept is None:
                try:
                    kept = tried(subject, *choice[subject.name])
                    subject.keep(kept)
                except _InterruptedError as why:  # another answer is possible next time: not kept
                    kept = Row(subject.name, choice[subject.name][0].patch, "not tried", str(why))
            tell(kept)
            return kept

        yield from pool.map(row, found)


def tried(subject: Subject, fix: Fix, problem: str) -> Row:
    """Run the entries of a fix without it and with it; ``problem``: why it does not fit.

    Raises _InterruptedError.
    """
    without = {entry: _run(entry) for entry in subject.entries}
    problems = {entry: run.problem for entry, run in without.items() if run.problem}
    fixed = tuple(entry.file.stem for entry, run in without.items() if run.code == 0)
    broken = tuple(entry.file.stem for entry in problems)
    notes = [f"{entry.file.stem}: {why}" for entry, why in problems.items()]

    def row(status: Status, detail: str) -> Row:
        return Row(subject.name, fix.patch, status, detail, fixed, broken)

    if not subject.entries:
        return row("not tried", "no entry names it")
    if len(problems) == len(without):
        return row("not tried", notes[0])
    if not any(run.code == 1 for run in without.values()):
        return row("fixed upstream", "; ".join(notes))
    if problem:
        return row("does not fit", problem)
    for entry in subject.entries:
        if entry in problems:
            continue
        run = _run(entry, fix)
        if run.code != 0:
            return row("does not mend", f"{entry.file.stem}: {run.problem or run.last_line}")
    return row("usable", "; ".join(notes))


class _InterruptedError(Exception):
    """An entry was ended by a limit of a busy machine or by a kill."""


def _run(entry: Entry, fix: Fix | None = None) -> Run:
    run = run_file(entry.file, SECONDS, nullcontext if fix is None else partial(applied, (fix,)))
    if run.interrupted:
        raise _InterruptedError(f"{entry.file.stem} {run.problem}")
    return run

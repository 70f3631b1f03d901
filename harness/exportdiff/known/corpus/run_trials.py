"""Tries the fixes of a corpus on the installed torch: runs their entries without them and with them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

from exportdiff.known.corpus.trial_results import TrialResult
from exportdiff.runtime.patching.fixes import applied, choose_patch, find_functions, why_not_applicable
from exportdiff.runtime.processes.script import Run, run_file
from exportdiff.runtime.processes.server import server

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exportdiff.known.corpus.entry import Entry
    from exportdiff.known.corpus.trial_results import FixTrial, Status
    from exportdiff.runtime.patching.fixes import Fix

SECONDS = 120.0
"""For each run of an entry."""


def run_trials(trials: Sequence[FixTrial], workers: int) -> Iterator[TrialResult]:
    """Yield the result of each trial, in order; trials with a cached result do not run again."""
    server()  # before the threads
    missing = [each for each in trials if each.result is None]
    find_functions(fix for each in missing for fix in each.candidates)
    # Before the threads: choosing a patch imports the modules that it changes.
    choice = {each.name: (fix := choose_patch(each.candidates), why_not_applicable(fix)) for each in missing}

    def result(trial: FixTrial) -> TrialResult:
        found = trial.result
        if found is None:
            fix, problem = choice[trial.name]
            try:
                found = _run_trial(trial, fix, problem)
                trial.save(found)
            except _InterruptedError as why:  # the next trial may end differently: not saved
                found = TrialResult(trial.name, fix.patch, "not tried", str(why))
        return found

    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(result, trials)


def _run_trial(trial: FixTrial, fix: Fix, problem: str) -> TrialResult:
    """Run the entries of a fix without it and with it; ``problem``: the reason why the patch does not fit.

    Raises _InterruptedError.
    """
    without = {entry: _run(entry) for entry in trial.entries}
    problems = {entry: run.problem for entry, run in without.items() if run.problem}
    fixed = tuple(entry.file.stem for entry, run in without.items() if run.code == 0)
    broken = tuple(entry.file.stem for entry in problems)
    notes = [f"{entry.file.stem}: {why}" for entry, why in problems.items()]

    def result(status: Status, detail: str) -> TrialResult:
        return TrialResult(trial.name, fix.patch, status, detail, fixed, broken)

    if not trial.entries:
        return result("not tried", "no entry names it")
    if len(problems) == len(without):
        return result("not tried", notes[0])
    if not any(run.code == 1 for run in without.values()):
        return result("fixed upstream", "; ".join(notes))
    if problem:
        return result("does not fit", problem)
    for entry in trial.entries:
        if entry in problems:
            continue
        run = _run(entry, fix)
        if run.code != 0:
            return result("does not mend", f"{entry.file.stem}: {run.problem or run.last_line}")
    return result("usable", "; ".join(notes))


class _InterruptedError(Exception):
    """The run of an entry was ended from outside, for example by a kill."""


def _run(entry: Entry, fix: Fix | None = None) -> Run:
    run = run_file(entry.file, SECONDS, nullcontext if fix is None else partial(applied, (fix,)))
    if run.interrupted:
        raise _InterruptedError(f"{entry.file.stem} {run.problem}")
    return run

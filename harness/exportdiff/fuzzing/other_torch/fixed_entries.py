"""Finds the entries of a corpus that were fixed: they pass on this torch and show their bugs on the other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from exportdiff.fuzzing.other_torch.cache import cached_run, store_run
from exportdiff.fuzzing.other_torch.messages import FileAnswer, RunFile
from exportdiff.fuzzing.other_torch.probe import running_interpreter
from exportdiff.known.corpus.trial_results import fix_trials, open_entries
from exportdiff.runtime.processes.child import Stopped
from exportdiff.runtime.processes.script import run_file
from exportdiff.runtime.processes.server import server

if TYPE_CHECKING:
    import pathlib
    from threading import Event

    from exportdiff.fuzzing.other_torch.connection import OtherTorch
    from exportdiff.known.corpus.entry import Entry

SECONDS = 120.0
"""Limit for each run of an entry."""


def fixed_entries(corpora: pathlib.Path, other: OtherTorch, workers: int, stop: Event) -> tuple[str, ...]:
    """Return the names of the open entries that pass here and show their bugs there. Raises Stopped.

    Results are cached by torch and code. An entry does not run if a trial of the fixes on this torch
    (``exportdiff corpus fit``) has already shown whether it passes.
    """
    entries = open_entries(corpora)
    tried = {
        entry.file: entry.file.stem in result.fixed
        for trial in fix_trials(corpora, entries)
        if (result := trial.result) is not None
        for entry in trial.entries
    }
    texts = {entry: entry.file.read_text(encoding="utf-8") for entry in entries}
    server()  # before the threads

    def passes(entry: Entry) -> bool:
        if stop.is_set():
            raise Stopped
        if entry.file in tried:
            return tried[entry.file]
        ran = cached_run(running_interpreter(), texts[entry])
        if ran is None:
            run = run_file(entry.file, SECONDS)
            ran = FileAnswer(run.code, run.last_line)
            store_run(running_interpreter(), texts[entry], ran)
        return ran.code == 0

    with ThreadPoolExecutor(workers) as threads:
        passing = [entry for entry, well in zip(entries, threads.map(passes, entries), strict=True) if well]
    asked = {}
    there: dict[Entry, FileAnswer] = {}
    for entry in passing:
        ran = cached_run(other.interpreter, texts[entry])
        if ran is None:
            asked[entry] = other.ask(RunFile(texts[entry], SECONDS))
        else:
            there[entry] = ran
    for entry, future in asked.items():
        answer = future.result()
        if isinstance(answer, FileAnswer):
            there[entry] = answer
            store_run(other.interpreter, texts[entry], answer)
    return tuple(sorted(entry.file.stem for entry, ran in there.items() if ran.code == 1))

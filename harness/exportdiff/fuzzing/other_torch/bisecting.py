"""Runs repro files under several versions of torch, and says which of them have the bug."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.fuzzing.other_torch.cache import cached_run, store_run
from exportdiff.fuzzing.other_torch.connection import OtherTorch
from exportdiff.fuzzing.other_torch.messages import ErrorAnswer, FileAnswer, RunFile
from exportdiff.known.corpus.versions import Versions, age, shown_by, versions

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable, Sequence

    from exportdiff.fuzzing.other_torch.probe import Interpreter
    from exportdiff.known.corpus.entry import Entry
    from exportdiff.known.corpus.versions import Shown


@dataclass(frozen=True)
class VersionResult:
    """What a file did on one torch."""

    torch: str
    """The version, without the build."""
    outcome: Shown
    line: str
    """The last line that it printed."""


@dataclass(frozen=True)
class History:
    """What a file did on several versions of torch, the oldest first."""

    rows: tuple[VersionResult, ...]

    @property
    def versions(self) -> Versions:
        """Return it as a header records it."""
        return versions({row.torch: row.outcome for row in self.rows})


def histories(
    entries: Sequence[Entry],
    interpreters: Sequence[Interpreter],
    *,
    seconds: float,
    workers: int,
    corpora: pathlib.Path,
    use_cache: bool = False,
    on_progress: Callable[[str, int], None] = lambda torch, done: None,
) -> dict[Entry, History]:
    """Run files under several versions of torch; return what each did.

    ``seconds``: the limit of one run. ``workers``: how many files run at a time. ``corpora`` has the fixes
    that files name. ``use_cache``: whether to read and write results in the user's cache. ``on_progress``
    gets a version and the number of files that ran under it.
    """
    rows: dict[Entry, list[VersionResult]] = {entry: [] for entry in entries}
    for each in sorted(interpreters, key=lambda one: age(one.torch)):
        runs = _Runs(each, seconds, str(corpora), use_cache=use_cache)
        shown: dict[Entry, VersionResult] = {}
        for seed in range(max(entry.hash_seeds for entry in entries)):
            # One hash seed with which the bug shows is enough.
            left = [entry for entry in entries if entry.hash_seeds > seed]
            left = [entry for entry in left if entry not in shown or shown[entry].outcome != "shows"]
            for entry, ran in runs.of(left, seed, workers, on_progress).items():
                result = VersionResult(each.release, shown_by(ran.code), ran.line)
                if entry not in shown or result.outcome == "shows":
                    shown[entry] = result
        for entry, result in shown.items():
            rows[entry].append(result)
    return {entry: History(tuple(found)) for entry, found in rows.items()}


@dataclass(frozen=True)
class _Runs:
    """Runs files under one torch."""

    interpreter: Interpreter
    seconds: float
    corpora: str
    use_cache: bool

    def of(
        self, entries: Sequence[Entry], seed: int, workers: int, on_progress: Callable[[str, int], None]
    ) -> dict[Entry, FileAnswer]:
        """Return what files did with a hash seed; those with a cached result do not run."""
        texts = {entry: entry.file.read_text(encoding="utf-8") for entry in entries}
        runs: dict[Entry, FileAnswer] = {}
        if self.use_cache:
            found = {entry: cached_run(self.interpreter, text, seed) for entry, text in texts.items()}
            runs = {entry: ran for entry, ran in found.items() if ran is not None}
        if len(runs) == len(entries):
            return runs
        done = len(runs)
        # One torch and hash seed after the other, so that only one has processes at a time.
        with OtherTorch(self.interpreter, workers, seed) as there:
            asked = {
                entry: there.ask(RunFile(text, self.seconds, entry.needs, self.corpora))
                for entry, text in texts.items()
                if entry not in runs
            }
            for entry, future in asked.items():
                answer = future.result()
                if isinstance(answer, FileAnswer):
                    runs[entry] = answer
                    if self.use_cache:
                        store_run(self.interpreter, texts[entry], answer, seed)
                elif isinstance(answer, ErrorAnswer):
                    runs[entry] = FileAnswer(None, answer.error.strip().splitlines()[-1])
                done += 1
                on_progress(self.interpreter.release, done)
        return runs

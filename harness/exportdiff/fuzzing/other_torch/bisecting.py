"""Finds the versions of torch in which the bug of a repro file appeared and was fixed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

from exportdiff.fuzzing.other_torch.cache import cached_run, store_run
from exportdiff.fuzzing.other_torch.connection import OtherTorch
from exportdiff.fuzzing.other_torch.messages import ErrorAnswer, FileAnswer, RunFile

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable, Mapping, Sequence

    from exportdiff.fuzzing.other_torch.probe import Interpreter
    from exportdiff.known.corpus.entry import Entry

RunOutcome: TypeAlias = Literal["there", "not there", "another failure"]
"""``there``: the file exits with 1. ``not there``: it exits with 0. ``another failure``: it exits with 3,
raises, is killed, or does not end."""


@dataclass(frozen=True)
class VersionResult:
    """What a file did on one torch."""

    torch: str
    """The version, without the build."""
    outcome: RunOutcome
    line: str
    """The last line that it printed."""


@dataclass(frozen=True)
class Transition:
    """The bug appeared or was fixed between two versions."""

    what: Literal["appeared", "fixed"]
    after: str
    """The last version that was tried before the change."""
    by: str
    """The first version that was tried after it."""


@dataclass(frozen=True)
class History:
    """What a file did on several versions of torch, the oldest first."""

    rows: tuple[VersionResult, ...]

    @property
    def affected(self) -> tuple[str, ...]:
        """The versions that show the bug."""
        return tuple(row.torch for row in self.rows if row.outcome == "there")

    @property
    def unaffected(self) -> tuple[str, ...]:
        """The versions that do not show the bug."""
        return tuple(row.torch for row in self.rows if row.outcome == "not there")

    @property
    def undecided(self) -> tuple[str, ...]:
        """The versions on which the file fails in another way."""
        return tuple(row.torch for row in self.rows if row.outcome == "another failure")

    @property
    def changes(self) -> tuple[Transition, ...]:
        """Where the bug appeared and was fixed; undecided versions are left out."""
        decided = [row for row in self.rows if row.outcome != "another failure"]
        return tuple(
            Transition("appeared" if after.outcome == "there" else "fixed", before.torch, after.torch)
            for before, after in pairwise(decided)
            if before.outcome != after.outcome
        )

    @property
    def regression_since(self) -> str:
        """The version where the bug last appeared; empty: it is in the oldest version that was tried."""
        appeared = [change.by for change in self.changes if change.what == "appeared"]
        return appeared[-1] if appeared else ""


def age(version: str) -> tuple[tuple[int, ...], int, int]:
    """Return a key that sorts versions, the oldest first: 2.9.1, 2.15.0.dev20261101, 2.15.0."""
    public = version.partition("+")[0]
    release = re.match(r"\d+(\.\d+)*", public)
    numbers = tuple(map(int, release[0].split("."))) if release else ()
    rest = public[release.end() :] if release else public
    stage = 4 if not rest or rest.startswith((".post", "post")) else 0
    stage = next((n for n, word in enumerate(("dev", "a", "b", "rc")) if word in rest), stage)
    last = re.search(r"\d+$", rest)
    return (*numbers, *(0,) * (3 - len(numbers))), stage, int(last[0]) if last else 0


OUTCOMES: Mapping[int | None, RunOutcome] = {0: "not there", 1: "there"}
"""By exit code; any other is another failure."""


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
    texts = {entry: entry.file.read_text(encoding="utf-8") for entry in entries}
    rows: dict[Entry, list[VersionResult]] = {entry: [] for entry in entries}
    for each in sorted(interpreters, key=lambda one: age(one.torch)):
        runs = {entry: cached_run(each, text) if use_cache else None for entry, text in texts.items()}
        missing = [entry for entry, ran in runs.items() if ran is None]
        if missing:
            # One version after the other, so that only one has processes at a time.
            with OtherTorch(each, workers) as there:
                asked = {
                    entry: there.ask(RunFile(texts[entry], seconds, entry.needs, str(corpora)))
                    for entry in missing
                }
                for done, (entry, future) in enumerate(asked.items(), 1):
                    answer = future.result()
                    if isinstance(answer, FileAnswer):
                        runs[entry] = answer
                        if use_cache:
                            store_run(each, texts[entry], answer)
                    elif isinstance(answer, ErrorAnswer):
                        runs[entry] = FileAnswer(None, answer.error.strip().splitlines()[-1])
                    on_progress(each.release, done)
        for entry, ran in runs.items():
            assert ran is not None
            rows[entry].append(
                VersionResult(each.release, OUTCOMES.get(ran.code, "another failure"), ran.line)
            )
    return {entry: History(tuple(found)) for entry, found in rows.items()}

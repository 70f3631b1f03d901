"""How often a path ends as refused, why, and which fixes refuse what plain torch does right.

Every program is exported once, on mended torch, in one of three ways in turn: other programs show more than
the same program exported again. What a fix refuses there, and what differs, runs on plain torch as well.
The results are written to a file, one line for each program. The next measurement with the same programs
and the same fixes continues after them.
"""

from __future__ import annotations

import hashlib
import itertools
import time
from collections import Counter
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from exportdiff.core.case import case_from_source
from exportdiff.core.torch_versions import torch_version
from exportdiff.fuzzing.campaign.worker import Job, drawn, prepared
from exportdiff.judging.exemptions.refusal import fix_refusals
from exportdiff.judging.judge_case import judge_case
from exportdiff.known.attribution.knowledge import knowledge
from exportdiff.known.attribution.wrong_refusals import regressed
from exportdiff.lab.bench.figures import Figure, Result, Rows
from exportdiff.lab.bench.records_file import append_records, read_records
from exportdiff.lab.bench.threads import in_threads
from exportdiff.runtime.observing.freeing_programs import clean_state
from exportdiff.runtime.patching.installed import without_fixes
from exportdiff.runtime.paths import select_paths
from exportdiff.runtime.processes.child import Death, TaskFailure
from exportdiff.runtime.processes.in_child import ReusableWorker

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Iterable, Sequence
    from threading import Event

    from exportdiff.core.path import Path
    from exportdiff.known.attribution.knowledge import Knowledge
    from exportdiff.lab.bench.context import Context

PATHS = (
    ("nonstrict:module", "nonstrict:unflatten"),
    ("strict:module", "strict:unflatten"),
    ("nonstrict+decompose:module",),
)
"""The paths of a program that share one export. Each program runs on one of these groups, in turn."""
BATCH = 4
PROGRAM_SECONDS = 120.0
SHOWN = 100
"""Characters of a message in the table of wrong results; the JSON document has all of it."""


@dataclass(frozen=True)
class Refused:
    """A path run that ended as refused."""

    path: Path
    reason: str
    """The name of the documented refusal, or of the fix that refuses."""


@dataclass(frozen=True)
class Wrong:
    """A path run that is right on plain torch, and that mended torch refuses or gets wrong."""

    path: Path
    fix: str
    """The fix that refuses; empty: the path runs, and differs from eager."""
    message: str


@dataclass(frozen=True)
class Judged:
    """One program. Plain data: a line of the file."""

    index: int
    runs: Sequence[Path] = ()
    """The paths on which it ran; none: the program was dropped, or exportdiff failed on it."""
    refused: tuple[Refused, ...] = ()
    wrong: tuple[Wrong, ...] = ()
    source: str = ""
    """The program, if mended torch is wrong on it."""
    error: str = ""
    """How exportdiff failed on it."""


def measure(context: Context) -> Result:
    """Judge programs until the time is over, after those that the file has."""
    if context.corpora is None:
        return Result((Figure("refused", None, note="there is no corpora/ here"),))
    job = Job(context.seed, (), corpora=context.corpora)
    known = knowledge(context.corpora)
    records = Records(_file(context, known))
    interrupted = False
    try:
        until = time.monotonic() + context.seconds
        in_threads(context.workers, lambda stop: _work(job, records, until, stop))
    except KeyboardInterrupt:
        interrupted = True
    return result_of(sorted(records.done, key=lambda each: each.index), known.usable, interrupted=interrupted)


def _file(context: Context, known: Knowledge) -> pathlib.Path | None:
    """Return the file for these programs and fixes; None: the records are not kept."""
    if context.programs is None:
        return None
    texts = sorted(f"{fix.patch}\n{fix.diff}" for fix in known.usable_fixes)
    digest = hashlib.sha256("\0".join((torch_version(), str(PATHS), *texts)).encode()).hexdigest()[:8]
    return context.programs / f"refusals-{context.seed}-{digest}.ndjson"


@dataclass
class Records:
    """The judged programs, and the file that has them. Several threads share it."""

    file: pathlib.Path | None
    done: list[Judged] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Read the file; a line that was cut off is judged again."""
        self._lock = Lock()
        if self.file is not None:
            self.done += read_records(self.file)
        have = {each.index for each in self.done}
        self._indices = (index for index in itertools.count() if index not in have)

    def take(self) -> tuple[int, ...]:
        """Return the indices of the next programs."""
        with self._lock:
            return tuple(itertools.islice(self._indices, BATCH))

    def add(self, judged: Iterable[Judged]) -> None:
        """Keep the results, in the file too."""
        with self._lock:
            judged = tuple(judged)
            self.done.extend(judged)
            if self.file is not None:
                append_records(self.file, judged)


def _work(job: Job, records: Records, until: float, stop: Event) -> None:
    with ReusableWorker() as child:
        while time.monotonic() < until:
            batch = records.take()
            answer = child.ask(PROGRAM_SECONDS * BATCH, judge_batch, job, batch, stop=stop)
            if not isinstance(answer, Death | TaskFailure):
                records.add(answer)
                continue
            for index in batch:
                one = child.ask(PROGRAM_SECONDS, judge_batch, job, (index,), stop=stop)
                records.add((Judged(index, error=str(one)),) if isinstance(one, Death | TaskFailure) else one)


def judge_batch(job: Job, indices: Sequence[int]) -> tuple[Judged, ...]:
    """Judge some programs on mended torch, and on plain torch where the fixes made a difference."""
    known = prepared(job)
    assert known is not None, "the job names a corpus"
    with clean_state(free=True):
        return tuple(_judged(job, index, known) for index in indices)


@clean_state()
def _judged(job: Job, index: int, known: Knowledge) -> Judged:
    source, _ = drawn(job, index)
    case = case_from_source(source)
    paths = select_paths(PATHS[index % len(PATHS)])
    mended = judge_case(case, paths, fix_refusals(known.usable_fixes))
    if not mended.valid:
        return Judged(index)
    refused = [each for each in mended.paths if each.status == "unsupported"]
    wrong: tuple[Wrong, ...] = ()
    if any(each.status == "finding" or each.reason in known.usable for each in mended.paths):
        with without_fixes():
            plain = judge_case(case, paths)
        wrong = tuple(
            Wrong(each.path, each.reason if each.status == "unsupported" else "", each.message)
            for each in regressed(mended, plain, known)
        )
    return Judged(
        index,
        tuple(each.path for each in mended.paths),
        tuple(Refused(each.path, each.reason) for each in refused),
        wrong,
        source if wrong else "",
    )


def result_of(done: Sequence[Judged], fixes: Iterable[str], *, interrupted: bool = False) -> Result:
    """Add up the records."""
    fixes = set(fixes)
    runs = Counter(path for each in done for path in each.runs)
    refused = [one for each in done for one in each.refused]
    wrong = [(each.index, one) for each in done for one in each.wrong]
    total = sum(runs.values())
    return Result(
        (
            Figure("programs", len(done), note=_note(done)),
            Figure("refused path runs", _percent(len(refused), total), "%", "<= 12", note=f"of {total} runs"),
            Figure("wrongly refused path runs", sum(bool(one.fix) for _, one in wrong), wanted="0"),
            Figure("path runs that only fixes make wrong", sum(not one.fix for _, one in wrong), wanted="0"),
        ),
        (
            _by_reason(refused, fixes, total),
            _by_path(refused, runs),
            Rows(
                "right on plain torch, wrong on mended torch",
                ("program", "path", "fix", "message"),
                tuple((index, one.path.without_device, one.fix, _short(one.message)) for index, one in wrong),
            ),
        ),
        data={
            "wrong": [
                {
                    "program": each.index,
                    "path": str(one.path),
                    "fix": one.fix,
                    "message": one.message,
                    "source": each.source,
                }
                for each in done
                for one in each.wrong
            ]
        },
        interrupted=interrupted,
        exit_code=1 if wrong else 0 if total else 2,
    )


def _note(done: Sequence[Judged]) -> str:
    failed = sum(bool(each.error) for each in done)
    dropped = sum(not each.runs for each in done) - failed
    return f"{dropped} were dropped; exportdiff failed on {failed}"


def _percent(part: int, whole: int) -> float | None:
    return 100 * part / whole if whole else None


def _by_reason(refused: Sequence[Refused], fixes: set[str], total: int) -> Rows:
    rows = [
        (reason, "a fix" if reason in fixes else "torch", number, f"{100 * number / total:.2f} %")
        for reason, number in Counter(each.reason for each in refused).most_common()
    ]
    return Rows("refused path runs by reason", ("reason", "refused by", "runs", "share"), tuple(rows))


def _by_path(refused: Sequence[Refused], runs: Counter[Path]) -> Rows:
    ended = Counter(each.path for each in refused)
    rows = [
        (path.without_device, number, ended[path], f"{100 * ended[path] / number:.1f} %")
        for path, number in runs.items()
    ]
    return Rows("refused path runs by path", ("path", "runs", "refused", "share"), tuple(rows))


def _short(message: str) -> str:
    first = message.partition("\n")[0]
    return first if len(first) <= SHOWN else f"{first[: SHOWN - 4]} ..."

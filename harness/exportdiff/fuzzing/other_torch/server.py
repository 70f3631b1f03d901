"""The process in another environment: ``python -m exportdiff.fuzzing.other_torch.server``.

It reads one question per line from standard input, and writes one answer per line to standard output, in the
order in which the answers are ready. It ends when its input ends. Each of its threads has one worker process
that judges, and starts a fresh process for each file to run.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from exportdiff.fuzzing.other_torch.messages import (
    Answer,
    ErrorAnswer,
    FileAnswer,
    JudgeProgram,
    PathAnswer,
    ProgramAnswer,
    Question,
    ReproAnswer,
    RunFile,
    WriteRepro,
    decoded,
    encoded,
)
from exportdiff.runtime.processes import scratch
from exportdiff.runtime.processes.child import Death, TaskFailure
from exportdiff.runtime.processes.in_child import ReusableWorker
from exportdiff.runtime.processes.script import run_file
from exportdiff.runtime.processes.server import server

JUDGING = 120.0
"""Limit in seconds for judging a program: on all its paths, then on each alone if that kills the process."""
QUESTIONS_EACH = 200
"""A fresh process replaces a worker after this many programs, so that its caches do not grow."""


def main() -> None:
    """Answer until the input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, required=True)
    workers = parser.parse_args().workers
    # Only answers go to standard output; everything else that is printed goes to standard error.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    server("exportdiff.fuzzing.other_torch.answering")  # before the threads start
    lock = threading.Lock()
    mine = threading.local()
    judges: list[_Judge] = []

    def reply(line: str) -> None:
        number, question = decoded(line)
        if not hasattr(mine, "judge"):
            mine.judge = _Judge()
            judges.append(mine.judge)
        try:
            answer = _answer(question, mine.judge)  # type: ignore[arg-type]  # only questions come in
        except Exception:
            answer = ErrorAnswer(traceback.format_exc())
        with lock:
            print(encoded(number, answer), file=answers, flush=True)

    with ThreadPoolExecutor(workers) as pool:
        for line in sys.stdin:
            pool.submit(reply, line)
    for judge in judges:
        judge.stop()


class _Judge:
    """A worker process that judges programs one after the other."""

    def __init__(self) -> None:
        self._worker = ReusableWorker()
        self._asked = 0

    def ask(self, question: JudgeProgram) -> ProgramAnswer | Death | TaskFailure:
        # Imported here, so that files can run where the libraries for judging are not installed.
        from exportdiff.fuzzing.other_torch.answering import answer_program

        self._asked += 1
        if self._asked % QUESTIONS_EACH == 0:
            self.stop()
        return self._worker.ask(JUDGING, answer_program, question)

    def write(self, question: WriteRepro) -> ReproAnswer | Death | TaskFailure:
        from exportdiff.fuzzing.other_torch.answering import answer_repro

        return self._worker.ask(JUDGING, answer_repro, question)

    def stop(self) -> None:
        self._worker.stop()


def _answer(question: Question, judge: _Judge) -> Answer:
    if isinstance(question, RunFile):
        return _run(question)
    answer = _judged(question, judge) if isinstance(question, JudgeProgram) else judge.write(question)
    if isinstance(answer, TaskFailure):
        return ErrorAnswer(str(answer.error))
    if isinstance(answer, Death):
        return ErrorAnswer(answer.reason)
    return answer


def _judged(question: JudgeProgram, judge: _Judge) -> ProgramAnswer | TaskFailure:
    """Judge on all paths; if that kills the process or does not end, on each path alone."""
    answer = judge.ask(question)
    if not isinstance(answer, Death):
        return answer
    shown: list[PathAnswer] = []
    for path in question.paths:
        alone = judge.ask(
            JudgeProgram(question.source, (path,), fixes=question.fixes, corpora=question.corpora)
        )
        if isinstance(alone, TaskFailure):
            return alone
        if isinstance(alone, Death):
            shown.append(PathAnswer(path, "finding", alone.reason, (("alive", alone.kind, alone.reason),)))
        elif not alone.valid:
            return alone
        else:
            shown.append(alone.on(path))
    return ProgramAnswer(True, "", tuple(shown))


def _run(question: RunFile) -> FileAnswer:
    from contextlib import nullcontext

    within = nullcontext
    if question.fixes:
        from exportdiff.fuzzing.other_torch.answering import fixes_installed

        within = partial(fixes_installed, question.fixes, question.corpora)  # type: ignore[assignment]
    with scratch.make() as folder:
        file = pathlib.Path(folder, "repro.py")
        file.write_text(question.text, encoding="utf-8")
        run = run_file(file, question.seconds, within)
    return FileAnswer(run.code, run.last_line)


if __name__ == "__main__":
    main()

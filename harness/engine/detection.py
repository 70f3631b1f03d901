"""Hunting a planted fault: after how many random programs does a check notice?

Blind: of the fault only the patch is used, not its check, its paths or its model. Each hunt has a process
of its own, because a fault patches torch for the whole process; where a program takes that process down,
the hunt goes on in another one.
"""

from __future__ import annotations

import gc
import os
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Literal, TypeAlias

from harness.engine.campaign import add_death
from harness.engine.schedule import paths_for
from harness.engine.worker import Job
from harness.judge.judge_case import judge_case
from harness.paths import Stopwatch
from harness.processes.pool import (
    POLL_SECONDS,
    Death,
    Failure,
    Stopped,
    call_fresh,
    end,
    exit_reason,
    quiet,
    server,
)
from harness.programs import program_source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection
    from threading import Event

    from harness.case import Case
    from harness.faults import Fault
    from harness.findings import Finding
    from harness.judge.verdict import Verdict
    from harness.paths import Path

Judge: TypeAlias = "Callable[[Case, Sequence[Path]], Verdict]"

COLLECT_EVERY = 8

WARM_UP = """
import torch
from torch import nn

def make():
    return nn.Linear(3, 3), (torch.ones(2, 3),)
"""


@dataclass(frozen=True)
class Settings:
    """What the hunts for all faults have in common: a campaign's programs and paths, and when to give up."""

    job: Job
    seconds: float | None = None
    """Per fault, of fuzzing: neither starting the process nor telling its doing from torch's is counted."""
    examples: int | None = None
    example_seconds: float = 60.0
    """A program that takes longer hangs."""
    judge: Judge = judge_case
    """For tests to replace."""


@dataclass(frozen=True)
class Hunted:
    """How the hunt for one fault ended."""

    fault: str
    findings: tuple[Finding, ...]
    """What the last program shows with the fault planted, and does not without it; empty: never caught."""
    programs: int
    seconds: float
    """Spent fuzzing; telling the fault's doing from torch's own bugs, which no fuzzing needs, is left out."""
    errors: tuple[str, ...] = ()
    """Programs on which exportdiff itself failed, each with its traceback."""


@dataclass(frozen=True)
class _Step:
    """Sent before each program, so that the parent knows which one killed the process."""

    index: int
    seconds: float


def hunt(fault: str, settings: Settings, stop: Event) -> Hunted:
    """Fuzz with the fault planted until a check notices or the budget is spent.

    Raises Stopped soon after ``stop`` is set.
    """
    index, spent = 0, 0.0
    errors: tuple[str, ...] = ()
    while True:
        if stop.is_set():
            raise Stopped
        last, answer = _follow(fault, settings, _Step(index, spent), stop)
        if isinstance(answer, Hunted):
            return Hunted(fault, answer.findings, answer.programs, answer.seconds, errors + answer.errors)
        if isinstance(answer, Failure):
            return Hunted(fault, (), last.index, last.seconds, (*errors, str(answer.error)))
        findings, problem = _post_mortem(fault, settings, last.index)
        index, spent = last.index + 1, last.seconds
        if findings:
            return Hunted(fault, findings, index, spent, errors)
        errors += (problem,) if problem else ()


def _follow(
    fault: str, settings: Settings, first: _Step, stop: Event
) -> tuple[_Step, Hunted | Death | Failure]:
    """Let a process of its own hunt on from a step; return the last step it began, and its answer."""
    receiver, sender = server().Pipe(duplex=False)
    process = server().Process(target=_search, args=(sender, fault, settings, first))
    process.start()
    sender.close()
    last, heard = first, time.monotonic()
    try:
        while True:
            silent = time.monotonic() - heard
            if stop.is_set():
                raise Stopped
            if receiver.poll(POLL_SECONDS):
                answer: _Step | Hunted | Failure = receiver.recv()
                if not isinstance(answer, _Step):
                    return last, answer
                last, heard = answer, time.monotonic()
            elif silent > settings.example_seconds:
                hung = _Step(last.index, last.seconds + silent)
                return hung, Death("hang", f"no answer within {settings.example_seconds:g} s")
    except EOFError:
        process.join(POLL_SECONDS)
        return last, Death("abort", exit_reason(process.exitcode))
    finally:
        end(process)


def _search(sender: Connection, fault: str, settings: Settings, first: _Step) -> None:
    """Run in a process of its own."""
    os.setpgid(0, 0)
    quiet()
    gc.disable()
    answer: Hunted | Failure
    try:
        answer = _searched(sender, fault, settings, first)
    except Exception:
        answer = Failure(RuntimeError(traceback.format_exc()))
    sender.send(answer)


def _searched(sender: Connection, name: str, settings: Settings, first: _Step) -> Hunted:
    from harness.case import case_from_source
    from harness.faults import FAULTS

    fault, job = FAULTS[name], settings.job
    program_source(job.seed, 0, job.profile)
    judge_case(case_from_source(WARM_UP), job.paths)
    errors: list[str] = []
    aside = Stopwatch()
    began = time.perf_counter() - first.seconds
    for index in count(first.index):
        seconds = time.perf_counter() - began - aside.seconds
        if _spent(settings, index, seconds):
            break
        sender.send(_Step(index, seconds))
        try:
            source, _ = program_source(job.seed, index, job.profile)
            case = case_from_source(source)
            findings = shown_by(fault, case, paths_for(index, job.paths), settings.judge, aside)
        except Exception:
            errors.append(f"program {index}: {traceback.format_exc()}")
            continue
        if findings:
            seconds = time.perf_counter() - began - aside.seconds
            return Hunted(name, findings, index + 1, seconds, tuple(errors))
        if index % COLLECT_EVERY == 0:
            gc.collect()
            gc.freeze()
    return Hunted(name, (), index, seconds, tuple(errors))


def _spent(settings: Settings, index: int, seconds: float) -> bool:
    return (settings.examples is not None and index >= settings.examples) or (
        settings.seconds is not None and seconds >= settings.seconds
    )


def shown_by(
    fault: Fault, case: Case, paths: Sequence[Path], judge: Judge = judge_case, aside: Stopwatch | None = None
) -> tuple[Finding, ...]:
    """Return what a case shows with the fault planted, and not without it; ``aside`` times the second part.

    Torch has bugs of its own. And what shows with the fault, not without it, and with it again, is no
    accident.
    """
    with fault.plant():
        planted = judge(case, paths).findings
    if not planted:
        return ()
    # Modes know nothing of each other: those that agree need not run again.
    modes = {finding.mode for finding in planted}
    paths = [path for path in paths if path.mode in modes]
    with aside or nullcontext():
        lifted = set(map(_cause, judge(case, paths).findings))
        new = [finding for finding in planted if _cause(finding) not in lifted]
        if not new:
            return ()
        with fault.plant():
            again = set(map(_cause, judge(case, paths).findings))
    return tuple(finding for finding in new if _cause(finding) in again)


def _cause(finding: Finding) -> tuple[str, ...]:
    return (str(finding.path), *finding.signature)


def _post_mortem(fault: str, settings: Settings, index: int) -> tuple[tuple[Finding, ...], str]:
    """Find the path that kills the process with the fault planted; or say what else went wrong.

    A program that kills it without the fault as well is not the fault's doing.
    """
    paths = paths_for(index, settings.job.paths)
    plain = call_fresh(settings.example_seconds, _outlives, "", settings, index, paths)
    if isinstance(plain, Death):
        return (), ""
    if isinstance(plain, Failure):
        return (), f"program {index}: {plain.error}"
    findings: list[Finding] = []
    for path in paths:
        answer = call_fresh(settings.example_seconds, _outlives, fault, settings, index, (path,))
        if isinstance(answer, Death):
            add_death(findings, path, answer)
    return tuple(findings), ""


def _outlives(fault: str, settings: Settings, index: int, paths: Sequence[Path]) -> Literal[True]:
    """Judge one program, with a fault planted if one is named; the answer is that the process lives."""
    from harness.case import case_from_source
    from harness.faults import FAULTS

    source, _ = program_source(settings.job.seed, index, settings.job.profile)
    with FAULTS[fault].plant() if fault else nullcontext():
        settings.judge(case_from_source(source), paths)
    return True


def hunt_all(faults: Sequence[str], settings: Settings, workers: int) -> Iterator[Hunted]:
    """Hunt for each fault, ``workers`` at a time; yields in the order of the faults."""
    from concurrent.futures import ThreadPoolExecutor
    from threading import Event

    server()  # in this thread, before the others ask for it at once
    stop = Event()
    with ThreadPoolExecutor(workers) as threads:
        try:
            yield from threads.map(lambda name: hunt(name, settings, stop), faults)
        finally:
            stop.set()

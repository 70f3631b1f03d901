"""Plants a fault and fuzzes: after how many random programs does a check detect it?

The fuzzing is blind: it uses the patch of the fault, not its check, its paths or its model. A fault patches
torch for a whole process, so each is planted in a separate process; when a program kills that process, the
fuzzing goes on in another one.
"""

from __future__ import annotations

import gc
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import count
from threading import Event
from typing import TYPE_CHECKING, Literal

from exportdiff.core.case import case_from_source
from exportdiff.core.programs import program_source
from exportdiff.fuzzing.campaign.postmortem import post_mortem
from exportdiff.fuzzing.campaign.schedule import paths_for
from exportdiff.fuzzing.campaign.worker import Job, prepared
from exportdiff.judging.exemptions.refusal import fix_refusals
from exportdiff.judging.judge_case import judge_case
from exportdiff.lab.faults import FAULTS
from exportdiff.runtime.observing.freeing_programs import free_programs
from exportdiff.runtime.patching.installed import installed, without_fixes
from exportdiff.runtime.paths.stopwatch import Stopwatch
from exportdiff.runtime.processes.child import DEVNULL, Child, Death, Stopped, TaskFailure
from exportdiff.runtime.processes.in_child import call_fresh
from exportdiff.runtime.processes.server import server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.core.path import Path
    from exportdiff.judging.judge_case import Judge
    from exportdiff.lab.faults import Fault

COLLECT_EVERY = 8
"""Programs between two collections of garbage."""

WARM_UP = """
import torch
from torch import nn

def make():
    return nn.Linear(3, 3), (torch.ones(2, 3),)
"""


@dataclass(frozen=True)
class DetectionSettings:
    """What is the same for all faults: the programs and paths of a campaign, and the limits."""

    job: Job
    seconds: float | None = None
    """Limit of the fuzzing for one fault; ``Detection.seconds`` says what counts."""
    examples: int | None = None
    example_seconds: float = 60.0
    """A program that takes longer hangs."""
    judge: Judge = judge_case
    """For tests to replace."""


@dataclass(frozen=True)
class Detection:
    """How the fuzzing for one fault ended."""

    fault: str
    findings: tuple[Finding, ...]
    """What the last program shows with the fault, and does not show without it; empty: never detected."""
    programs: int
    seconds: float
    """Time spent fuzzing; without the start of processes, and without judging again to rule out torch's own
    bugs, which a campaign does not do."""
    errors: tuple[str, ...] = ()
    """Programs on which exportdiff itself failed, each with its traceback."""


@dataclass(frozen=True)
class _Progress:
    """The child sends it before each program, so that the parent knows which program killed the child."""

    index: int
    seconds: float


def detect(fault: str, settings: DetectionSettings, stop: Event) -> Detection:
    """Fuzz with the fault planted until a check detects it or the budget is spent.

    Raises Stopped soon after ``stop`` is set.
    """
    start = _Progress(0, 0.0)
    errors: tuple[str, ...] = ()
    while True:
        if stop.is_set():
            raise Stopped
        last, answer = _listen(fault, settings, start, stop)
        if isinstance(answer, Detection):
            errors += answer.errors
            return Detection(fault, answer.findings, answer.programs, answer.seconds, errors)
        if isinstance(answer, TaskFailure):
            return Detection(fault, (), last.index, last.seconds, (*errors, str(answer.error)))
        findings, problem = _deaths(fault, settings, last.index)
        start = _Progress(last.index + 1, last.seconds)
        if findings:
            return Detection(fault, findings, start.index, start.seconds, errors)
        errors += (problem,) if problem else ()


def _listen(
    fault: str, settings: DetectionSettings, start: _Progress, stop: Event
) -> tuple[_Progress, Detection | Death | TaskFailure]:
    """Let a child fuzz from ``start`` on; return the last program it began, and its answer."""
    last, heard = start, time.monotonic()
    with Child(_fuzz, fault, settings, start, output=DEVNULL) as child:
        while True:
            answer: _Progress | Detection | Death | TaskFailure
            answer = child.receive(settings.example_seconds, stop)
            if not isinstance(answer, _Progress):
                break
            last, heard = answer, time.monotonic()
    if isinstance(answer, Death) and answer.kind == "hang":
        last = _Progress(last.index, last.seconds + time.monotonic() - heard)
    return last, answer


def _fuzz(pipe: Connection, fault: str, settings: DetectionSettings, start: _Progress) -> None:
    """Run in the child."""
    gc.disable()
    answer: Detection | TaskFailure
    try:
        answer = _detected(pipe, fault, settings, start)
    except Exception:
        answer = TaskFailure(RuntimeError(traceback.format_exc()))
    pipe.send(answer)


def _detected(pipe: Connection, name: str, settings: DetectionSettings, start: _Progress) -> Detection:
    fault, job = FAULTS[name], settings.job
    prepared(job)
    # The first program pays for imports and caches; that is no fuzzing time.
    program_source(job.seed, 0, job.profile)
    judge_case(case_from_source(WARM_UP), job.paths)
    errors: list[str] = []
    aside = Stopwatch()
    began = time.perf_counter() - start.seconds
    for index in count(start.index):
        seconds = time.perf_counter() - began - aside.seconds
        if _is_spent(settings, index, seconds):
            break
        pipe.send(_Progress(index, seconds))
        try:
            source, tags = program_source(job.seed, index, job.profile)
            case = case_from_source(source)
            findings = shown_by(fault, case, paths_for(index, job.paths, tags), settings.judge, aside)
        except Exception:
            errors.append(f"program {index}: {traceback.format_exc()}")
            continue
        if findings:
            seconds = time.perf_counter() - began - aside.seconds
            return Detection(name, findings, index + 1, seconds, tuple(errors))
        if index % COLLECT_EVERY == 0:
            free_programs()
    return Detection(name, (), index, seconds, tuple(errors))


def _is_spent(settings: DetectionSettings, index: int, seconds: float) -> bool:
    return (settings.examples is not None and index >= settings.examples) or (
        settings.seconds is not None and seconds >= settings.seconds
    )


def shown_by(
    fault: Fault, case: Case, paths: Sequence[Path], judge: Judge = judge_case, aside: Stopwatch | None = None
) -> tuple[Finding, ...]:
    """Return what a case shows with the fault planted, and does not show without it.

    The fault is planted on top of the installed fixes. Torch has other bugs too, so the case is
    judged without the fault as well; and then with it once more, to rule out an accident. ``aside`` measures
    the time of these.
    """
    refusals = fix_refusals(installed())
    with fault.plant():
        planted = judge(case, paths, refusals).findings
    if not planted:
        return ()
    # Modes do not influence each other: a mode without a finding need not run again.
    modes = {finding.mode for finding in planted}
    paths = [path for path in paths if path.mode in modes]
    with aside or nullcontext():
        without = set(map(_cause, judge(case, paths, refusals).findings))
        if installed():
            # A fault that edits a function edits it as torch has it: a fix of this function is lost.
            with without_fixes():
                without |= set(map(_cause, judge(case, paths, ()).findings))
        new = [finding for finding in planted if _cause(finding) not in without]
        if not new:
            return ()
        with fault.plant():
            again = set(map(_cause, judge(case, paths, refusals).findings))
    return tuple(finding for finding in new if _cause(finding) in again)


def _cause(finding: Finding) -> tuple[str, ...]:
    return (str(finding.path), *finding.signature)


def _deaths(fault: str, settings: DetectionSettings, index: int) -> tuple[tuple[Finding, ...], str]:
    """Find the paths that kill the process with the fault planted; or say what else went wrong.

    The fault is not to blame for a program that kills the process without the fault as well.
    """

    def judge(planted: str, paths: tuple[Path, ...]) -> Literal[True] | Death | TaskFailure:
        return call_fresh(settings.example_seconds, _survives, planted, settings, index, paths)

    job = settings.job
    drawn = call_fresh(settings.example_seconds, program_source, job.seed, index, job.profile)
    if isinstance(drawn, Death | TaskFailure):
        return (), f"program {index}: drawing it ended in {drawn}"
    paths = paths_for(index, job.paths, drawn[1])
    without = judge("", paths)
    if isinstance(without, Death):
        return (), ""
    if isinstance(without, TaskFailure):
        return (), f"program {index}: {without.error}"
    # Eager survived without the fault, and with the fault a death in eager is a detection as well.
    found = post_mortem(lambda chosen: judge(fault, chosen), paths, check_eager=False)
    return found.findings, ""


def _survives(fault: str, settings: DetectionSettings, index: int, paths: Sequence[Path]) -> Literal[True]:
    """Judge one program, with a fault planted if one is named; return only if the process survives."""
    prepared(settings.job)
    source, _ = program_source(settings.job.seed, index, settings.job.profile)
    with FAULTS[fault].plant() if fault else nullcontext():
        settings.judge(case_from_source(source), paths, fix_refusals(installed()))
    return True


def detect_all(faults: Sequence[str], settings: DetectionSettings, workers: int) -> Iterator[Detection]:
    """Fuzz for each fault, ``workers`` faults at a time; yield in the order of the faults."""
    server()  # start it here: the threads would all start it at once
    stop = Event()
    with ThreadPoolExecutor(workers) as threads:
        try:
            yield from threads.map(lambda name: detect(name, settings, stop), faults)
        finally:
            stop.set()

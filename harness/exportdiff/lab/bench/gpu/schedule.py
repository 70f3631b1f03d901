"""Runs the tasks of all sections at the same time, in child processes, until the time is over.

A free process takes the next task of the section that has had the smallest share of its time. So every
section has results from the start, and what is known after an early end is a fair sample.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING

import torch

from exportdiff.lab.bench.gpu.found import Difference, Ran, dropped
from exportdiff.lab.bench.gpu.sections import SECTIONS, Section, section
from exportdiff.lab.bench.threads import in_threads
from exportdiff.runtime import second_device
from exportdiff.runtime.observing.freeing_programs import clean_state
from exportdiff.runtime.observing.process_state import random_state
from exportdiff.runtime.processes.child import Death, TaskFailure
from exportdiff.runtime.processes.in_child import ReusableWorker
from exportdiff.runtime.processes.limits import limited

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from threading import Event

TASK_SECONDS = 90.0
"""A task that takes longer hangs."""
GROWTH = 3000
"""MiB by which a process may grow: CUDA loads its kernels when they are first used."""
MEMORY = 12_000
"""MiB that a process may take: the libraries of CUDA alone take more than a process on the CPU."""
KERNEL_ERRORS: tuple[type[Exception], ...] = tuple(filter(None, [getattr(torch, "AcceleratorError", None)]))
"""After them, the device cannot be used in the process: an index was out of range, for example."""


@dataclass
class Board:
    """What all sections have found so far."""

    ran: dict[str, Ran] = field(default_factory=lambda: {each.name: Ran() for each in SECTIONS})
    busy: dict[str, float] = field(default_factory=lambda: {each.name: 0.0 for each in SECTIONS})
    """Seconds that processes have spent, by section."""
    errors: list[str] = field(default_factory=list)
    """Where exportdiff itself failed: tracebacks."""


def run_tasks(name: str, device: str, seed: int, indices: Sequence[int]) -> Ran:
    """Run some tasks of a section in this process."""
    if device == second_device.NAME:
        second_device.load()
    each = section(name)
    done = Ran()
    try:
        with clean_state(free=True):
            for index in indices:
                done += each.task(device, seed, index)
    except KERNEL_ERRORS as error:
        return done + replace(dropped(f"a kernel failed: {error}"), broken=True)
    except Exception as error:
        if len(indices) > 1 or _torch_works():
            raise
        return done + replace(dropped(f"torch works no longer in the process: {error}"), broken=True)
    return done


def _torch_works() -> bool:
    """Return whether torch can still make a tensor: some programs leave its dispatcher broken."""
    try:
        random_state()
    except RuntimeError:
        return False
    return True


class _Queue:
    """Hands out tasks, and notes what they found."""

    def __init__(
        self, sections: Sequence[Section], board: Board, on_result: Callable[[str, Ran], None]
    ) -> None:
        self._sections = sections
        self._next = {each.name: 0 for each in sections}
        self._running: Counter[str] = Counter()
        self._lock = Lock()
        self._board = board
        self._on_result = on_result

    def take(self) -> tuple[Section, range] | None:
        """Return the next tasks; None if all are taken."""
        with self._lock:
            left = [each for each in self._sections if self._left(each)]
            if not left:
                return None
            chosen = min(left, key=self._share)
            first = self._next[chosen.name]
            last = first + chosen.batch if chosen.tasks is None else min(first + chosen.batch, chosen.tasks)
            self._next[chosen.name] = last
            self._running[chosen.name] += 1
            return chosen, range(first, last)

    def _left(self, each: Section) -> bool:
        return each.tasks is None or self._next[each.name] < each.tasks

    def _share(self, each: Section) -> float:
        running = self._running[each.name]
        return (self._board.busy[each.name] + 10 * running) / each.weight

    def add(self, name: str, seconds: float, ran: Ran, error: str = "") -> None:
        """Note what some tasks found."""
        with self._lock:
            self._running[name] -= 1
            self._board.busy[name] += seconds
            self._board.ran[name] += ran
            if error:
                self._board.errors.append(error)
            self._on_result(name, ran)


def run_sections(
    sections: Sequence[Section],
    device: str,
    seed: int,
    *,
    until: float,
    workers: int,
    board: Board,
    on_result: Callable[[str, Ran], None],
) -> None:
    """Run the sections until a time of ``time.monotonic``; ``board`` and ``on_result`` get what they find."""
    queue = _Queue(sections, board, on_result)
    # A process that uses CUDA takes more memory than one that does not.
    with limited(memory=MEMORY) if device == "cuda" else nullcontext():
        in_threads(workers, lambda stop: _work(queue, device, seed, until, stop))


def _work(queue: _Queue, device: str, seed: int, until: float, stop: Event) -> None:
    with ReusableWorker(growth=GROWTH) as child:
        while time.monotonic() < until and (taken := queue.take()) is not None:
            each, indices = taken
            begun = time.monotonic()
            ran, error = _asked(child, each, device, seed, indices, until, stop)
            queue.add(each.name, time.monotonic() - begun, ran, error)


def _asked(
    child: ReusableWorker,
    each: Section,
    device: str,
    seed: int,
    indices: Sequence[int],
    until: float,
    stop: Event,
) -> tuple[Ran, str]:
    """Run tasks in the child. If they kill it, run them one by one; ask the CPU about one that does so."""
    limit = TASK_SECONDS * len(indices)
    left = until - time.monotonic()
    if left <= 0:
        return Ran(), ""
    answer = child.ask(min(limit, left), run_tasks, each.name, device, seed, indices, stop=stop)
    if isinstance(answer, Ran):
        if answer.broken:
            child.stop()
        return answer, ""
    if left < limit and time.monotonic() >= until:
        return Ran(), ""
    if isinstance(answer, TaskFailure):
        child.stop()  # an error of torch or of a kernel may leave its process unusable
    if len(indices) > 1:
        parts = [_asked(child, each, device, seed, [index], until, stop) for index in indices]
        return sum((ran for ran, _ in parts), Ran()), "\n".join(error for _, error in parts if error)
    if isinstance(answer, TaskFailure):
        return Ran(), f"{each.name} {indices[0]}: {answer.error}"
    return _killed(child, answer, each, seed, indices, until, stop), ""


def _killed(
    child: ReusableWorker,
    death: Death,
    each: Section,
    seed: int,
    indices: Sequence[int],
    until: float,
    stop: Event,
) -> Ran:
    """Return what a task is that ends its process on the device, unless it does so on the CPU too."""
    left = max(1.0, min(TASK_SECONDS, until - time.monotonic()))
    there = child.ask(left, run_tasks, each.name, "cpu", seed, indices, stop=stop)
    if isinstance(there, Death):
        return dropped(f"it ends its process on the CPU too: {there.reason}")
    name = f"{each.name}-{indices[0]}"
    found = Difference(name, each.name, death.kind, f"the process ended: {death.reason}", "")
    return Ran(1, 0, differences=(found,))

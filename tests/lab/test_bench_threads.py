"""A benchmark that is interrupted ends at once, though its threads wait for children."""

from __future__ import annotations

import signal
import time
from threading import Event

import pytest

from exportdiff.lab.bench.threads import in_threads
from exportdiff.runtime.processes.in_child import ReusableWorker


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def test_an_interrupted_wait_ends_the_threads_and_their_children() -> None:
    asked: list[bool] = []

    def work(stop: Event) -> None:
        with ReusableWorker() as child:
            asked.append(True)
            child.ask(120, time.sleep, 100, stop=stop)
            asked.clear()  # only if the child answers

    before = signal.signal(signal.SIGALRM, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, 3)
    try:
        with pytest.raises(KeyboardInterrupt):
            in_threads(2, work)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert asked == [True, True]


def test_what_the_work_raises_comes_out() -> None:
    def work(stop: Event) -> None:
        raise ValueError("ours")

    with pytest.raises(ValueError, match="ours"):
        in_threads(1, work)

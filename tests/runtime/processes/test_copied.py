"""Tasks in copies of this process: what they answer, their limits, and that this process does not change."""

from __future__ import annotations

import os
import pathlib
import pickle
import random
import signal
import time
from typing import TYPE_CHECKING

import torch

from exportdiff.runtime.processes.child import Death, TaskFailure
from exportdiff.runtime.processes.copied import STOPPED, Copy, CopyResult
from exportdiff.runtime.processes.limits import Limits
from exportdiff.runtime.processes.usage import children

if TYPE_CHECKING:
    from collections.abc import Callable

    from exportdiff.runtime.processes.copied import Answer


def started(file: pathlib.Path, task: Callable[[Answer], None], seconds: float = 30.0) -> Copy:
    def finish(result: CopyResult) -> None:
        file.write_bytes(pickle.dumps(result))

    return Copy(task, finish, seconds, Limits(memory=1 << 20))


def result_of(file: pathlib.Path, task: Callable[[Answer], None], seconds: float = 30.0) -> CopyResult:
    assert started(file, task, seconds).wait(60.0)
    result = pickle.loads(file.read_bytes())
    assert isinstance(result, CopyResult)
    return result


def test_a_task_has_the_objects_of_this_process_and_changes_nothing_here(tmp_path: pathlib.Path) -> None:
    class Local:
        value = 1

    before = torch.get_rng_state().tolist(), random.getstate(), children(os.getpid())

    def task(answer: Answer) -> None:
        answer(Local.value)
        Local.value = 2
        torch.manual_seed(1)
        random.seed(1)
        print("not seen")
        answer(Local.value)

    result = result_of(tmp_path / "result", task)
    assert result.answers == (1, 2) and result.end is None
    assert Local.value == 1
    assert (torch.get_rng_state().tolist(), random.getstate(), children(os.getpid())) == before


def test_how_a_task_ends(tmp_path: pathlib.Path) -> None:
    def killed(answer: Answer) -> None:
        answer("before")
        os.kill(os.getpid(), signal.SIGSEGV)

    def raises(answer: Answer) -> None:
        raise KeyError("the name")

    ended = result_of(tmp_path / "killed", killed)
    assert ended.answers == ("before",) and ended.end == Death("abort", "SIGSEGV")
    end = result_of(tmp_path / "raises", raises).end
    assert isinstance(end, TaskFailure) and "KeyError: 'the name'" in str(end.error)
    end = result_of(tmp_path / "hangs", lambda answer: time.sleep(60), seconds=0.3).end
    assert isinstance(end, Death) and end.kind == "hang"


def test_a_task_that_is_ended_early_is_finished_too(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "result"
    copy = started(file, lambda answer: time.sleep(60))
    assert not copy.wait(0.0)
    copy.end()
    for _ in range(200):
        if file.exists() and (written := file.read_bytes()):
            break
        time.sleep(0.05)
    assert pickle.loads(written).end == STOPPED

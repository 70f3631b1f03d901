"""Child processes: what a parent learns of one that answers, raises, dies, hangs or is stopped."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
from multiprocessing.connection import Connection

import pytest

from exportdiff.fuzzing.campaign.postmortem import post_mortem
from exportdiff.runtime.paths import Path, select_paths
from exportdiff.runtime.processes import child as child_module
from exportdiff.runtime.processes import scratch
from exportdiff.runtime.processes.child import Child, Death, Stopped, TaskFailure, waited_for_core
from exportdiff.runtime.processes.executor import WorkerSlots
from exportdiff.runtime.processes.in_child import ReusableWorker, call_fresh

# The child processes can import the modules of the tests.


def double(number: int) -> int:
    return 2 * number


def fail() -> int:
    raise KeyError("ours")


def abort() -> int:
    os.abort()


def leave() -> int:
    os._exit(3)


def hang() -> int:
    time.sleep(600)
    return 0


def answer_late() -> int:
    time.sleep(1.5)
    return 7


def own_pid() -> int:
    return os.getpid()


def count_to_two(pipe: Connection) -> None:
    for number in (1, 2):
        pipe.send(number)


def start_another(pipe: Connection) -> None:
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    pipe.send(other.pid)
    time.sleep(600)


def speak(pipe: Connection) -> None:
    print("to standard output", flush=True)
    print("to standard error", file=sys.stderr, flush=True)


def is_new(worker: ReusableWorker) -> bool:
    return worker.is_new  # mypy does not assume that the answer of a function stays the same


def is_running(pid: int) -> bool:
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_process_that_gets_no_core_does_not_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    started = time.monotonic()
    # As on a machine where others use all cores: of each second, the process runs a tenth.
    monkeypatch.setattr(child_module, "waited_for_core", lambda pid: 0.9 * (time.monotonic() - started))
    monkeypatch.setattr(child_module, "POLL_SECONDS", 0.05)
    assert call_fresh(0.5, answer_late) == 7
    assert call_fresh(0.5, hang) == Death("hang", "no answer within 0.5 s")


def test_the_time_without_a_core_is_counted() -> None:
    assert waited_for_core(os.getpid()) >= 0.0
    assert waited_for_core(0) == 0.0


def test_a_task_answers_raises_dies_or_hangs() -> None:
    assert call_fresh(60, double, 3) == 6
    failure = call_fresh(60, fail)
    assert isinstance(failure, TaskFailure) and "KeyError: 'ours'" in str(failure.error)
    assert call_fresh(60, abort) == Death("abort", "SIGABRT")
    assert call_fresh(60, leave) == Death("abort", "exit code 3")
    assert call_fresh(0.5, hang) == Death("hang", "no answer within 0.5 s")


def test_a_worker_is_reused_until_a_task_kills_it() -> None:
    with ReusableWorker() as worker:
        assert is_new(worker)
        first = worker.ask(60, own_pid)
        assert worker.ask(60, own_pid) == first and not is_new(worker)
        assert isinstance(worker.ask(60, fail), TaskFailure)
        assert worker.ask(60, own_pid) == first
        assert worker.ask(60, abort) == Death("abort", "SIGABRT")
        assert is_new(worker)
        second = worker.ask(60, own_pid)
        assert isinstance(second, int) and second != first
        assert worker.ask(0.5, hang) == Death("hang", "no answer within 0.5 s")
        assert is_new(worker)
        third = worker.ask(60, own_pid)
        assert isinstance(third, int)
        # A process that somebody else kills between two tasks is no answer either.
        os.kill(third, signal.SIGKILL)
        assert worker.ask(60, own_pid) == Death("abort", "SIGKILL")


def test_a_pool_survives_its_workers() -> None:
    with WorkerSlots([ReusableWorker()]) as workers:
        assert workers.submit(60, abort).wait() == Death("abort", "SIGABRT")
        assert workers.submit(0.5, hang).wait() == Death("hang", "no answer within 0.5 s")
        assert workers.submit(60, double, 4).wait() == 8


def test_messages_come_in_order_and_the_end_is_a_death() -> None:
    with Child(count_to_two) as child:
        assert [child.receive(60) for _ in range(3)] == [1, 2, Death("abort", "exit code 0")]


def test_a_wait_can_be_stopped() -> None:
    stop = threading.Event()
    stop.set()
    with Child(start_another) as child, pytest.raises(Stopped):
        child.receive(60, stop)


def test_the_end_of_a_child_is_the_end_of_what_it_started() -> None:
    with Child(start_another) as child:
        pid = child.receive(60)
        assert is_running(pid)
    deadline = time.monotonic() + 10
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(pid)


def test_output_goes_to_a_file_or_to_standard_error(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "output"
    with Child(speak, output=file) as child:
        assert child.wait(60) == 0
    assert sorted(file.read_text().splitlines()) == ["to standard error", "to standard output"]
    assert capfd.readouterr().out == ""


PATHS = select_paths(["nonstrict:*", "strict:*"])


def test_a_post_mortem_separates_the_paths_that_kill() -> None:
    ends = dict(zip(PATHS, (Death("abort", "SIGSEGV"), None, Death("abort", "SIGSEGV")), strict=False))

    def judge(paths: tuple[Path, ...]) -> str | Death:
        return next(filter(None, map(ends.get, paths)), None) or "judged"

    found = post_mortem(judge, PATHS)
    assert found.eager is None
    assert found.alive == {PATHS[1]: "judged", PATHS[3]: "judged"}
    assert list(found.deaths) == [PATHS[0], PATHS[2]]
    (finding,) = found.findings
    assert (finding.check, finding.kind, finding.path) == ("alive", "abort", PATHS[0])


def test_no_path_is_to_blame_if_eager_dies() -> None:
    asked: list[tuple[Path, ...]] = []

    def judge(paths: tuple[Path, ...]) -> str | Death:
        asked.append(paths)
        return Death("hang", "no answer within 60 s")

    found = post_mortem(judge, PATHS)
    assert found.eager == Death("hang", "no answer within 60 s")
    assert asked == [()] and not found.findings
    assert {finding.kind for finding in post_mortem(judge, PATHS, check_eager=False).findings} == {"hang"}


def test_scratch_folders_of_commands_that_were_killed_are_removed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    old = time.time() - 2 * scratch.DAY
    names = {f"{scratch.PREFIX}{dead.pid}-old": old, f"{scratch.PREFIX}{os.getpid()}-running": old}
    names |= {f"{scratch.PREFIX}{dead.pid}-young": time.time(), "exportdiff-another": old}
    for name, age in names.items():
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (age, age))
    scratch.make().cleanup()
    assert {each.name for each in tmp_path.iterdir()} == names.keys() - {f"{scratch.PREFIX}{dead.pid}-old"}

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
from collections.abc import Callable
from multiprocessing.connection import Connection

import pytest

from exportdiff.core.own_code import import_folders
from exportdiff.fuzzing.campaign.postmortem import post_mortem
from exportdiff.runtime.paths import Path, select_paths
from exportdiff.runtime.processes import child as child_module
from exportdiff.runtime.processes import scratch
from exportdiff.runtime.processes import server as server_module
from exportdiff.runtime.processes.child import Child, Death, Stopped, TaskFailure, waited_for_core
from exportdiff.runtime.processes.executor import WorkerSlots
from exportdiff.runtime.processes.in_child import ReusableWorker, call_fresh
from support.folders import TESTS

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


def answer_never(pipe: Connection) -> None:
    time.sleep(600)


def start_another(pipe: Connection) -> None:
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    pipe.send(other.pid)
    time.sleep(600)


SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


def start_session(pipe: Connection) -> None:
    pipe.send([subprocess.Popen(SLEEP, start_new_session=True).pid])
    time.sleep(600)


def start_daemon(pipe: Connection) -> None:
    """Start a process as daemons do: twice forked, in another session, with the output of this process."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(writer, str(os.getpid()).encode())
            time.sleep(600)
        os._exit(0)
    pipe.send([int(os.read(reader, 20))])
    time.sleep(600)


def start_and_die(pipe: Connection) -> None:
    """Start a process in a session, and one below it; end while both run."""
    code = f"import subprocess; print(subprocess.Popen({SLEEP}, start_new_session=True).pid, flush=True)"
    code += "; import time; time.sleep(600)"
    one = subprocess.Popen(
        [sys.executable, "-c", code], start_new_session=True, stdout=subprocess.PIPE, text=True
    )
    assert one.stdout is not None
    pipe.send([one.pid, int(one.stdout.readline())])
    os._exit(3)


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


def test_a_deadline_holds_however_long_an_answer_may_take() -> None:
    with Child(answer_never) as child, pytest.raises(Stopped, match="the time limit was reached"):
        child.receive(60, None, time.monotonic() + 0.2)


def test_a_worker_is_reused_until_a_task_fails() -> None:
    with ReusableWorker() as worker:
        assert is_new(worker)
        first = worker.ask(60, own_pid)
        assert worker.ask(60, own_pid) == first and not is_new(worker)
        assert isinstance(worker.ask(60, fail), TaskFailure)
        assert is_new(worker)  # the task may have left torch in any state
        assert worker.ask(60, own_pid) != first
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


def ends_soon(pid: int) -> bool:
    deadline = time.monotonic() + 20
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_running(pid)


def test_the_end_of_a_child_is_the_end_of_what_it_started() -> None:
    with Child(start_another) as child:
        pid = child.receive(60)
        assert is_running(pid)
    assert ends_soon(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, only process groups are ended")
@pytest.mark.parametrize("start", [start_session, start_daemon, start_and_die])
def test_nor_does_a_process_in_another_session_survive(start: Callable[[Connection], None]) -> None:
    with Child(start_another) as other:
        stays = other.receive(60)
        with Child(start) as child:
            pids = child.receive(60)
            assert all(map(is_running, pids))
            if start is start_and_die:
                assert child.wait(60) == 3
        assert all(map(ends_soon, pids))
        assert is_running(stays)  # of another child, which lives


KILLED = """
import time
from exportdiff.runtime.processes.child import Child
from runtime.processes.test_processes import start_daemon

with Child(start_daemon) as child:
    print(child.receive(60)[0], flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, only process groups are ended")
def test_nothing_stays_behind_a_command_that_is_killed(tmp_path: pathlib.Path) -> None:
    folders = os.pathsep.join([*import_folders(), str(TESTS)])
    command = subprocess.Popen(
        [sys.executable, "-c", KILLED],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": folders, "TMPDIR": str(tmp_path)},
        text=True,
    )
    assert command.stdout is not None
    pid = int(command.stdout.readline())
    scratch.remove_abandoned(tmp_path)
    living = [*tmp_path.glob(f"{scratch.PREFIX}*")]
    assert is_running(pid) and len(living) == 2  # its folder, and the file with the lock
    command.kill()
    assert command.stdout.read() == ""  # returns: nobody keeps the output open
    command.wait()
    assert ends_soon(pid)
    scratch.remove_abandoned(tmp_path)
    assert not [*tmp_path.glob(f"{scratch.PREFIX}*")]


def test_output_goes_to_a_file_or_to_standard_error(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "output"
    with Child(speak, output=file) as child:
        assert child.wait(60) == 0
    assert sorted(file.read_text().splitlines()) == ["to standard error", "to standard output"]
    assert capfd.readouterr() == ("", "")
    with Child(speak) as child:
        assert child.wait(60) == 0
    printed, errors = capfd.readouterr()
    assert (printed, sorted(errors.splitlines())) == ("", ["to standard error", "to standard output"])


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
    scratch.remove_abandoned(tmp_path)
    assert {each.name for each in tmp_path.iterdir()} == names.keys() - {f"{scratch.PREFIX}{dead.pid}-old"}


def test_the_folder_of_a_living_run_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with scratch.make() as made:
        run = scratch.folder()
        assert pathlib.Path(made).parent == run
        os.utime(run, (0, 0))  # age does not count, nor does the id of the process
        run.with_name(run.name + scratch.LOCK).touch()
        for _ in range(2):
            scratch.remove_abandoned(tmp_path)
            assert pathlib.Path(made).is_dir()
    # A file with a lock of which the folder was not made yet, or is gone.
    (tmp_path / f"{scratch.PREFIX}1-ab{scratch.LOCK}").touch()
    target = tmp_path / "target"
    target.mkdir()
    (tmp_path / f"{scratch.PREFIX}1-cd{scratch.LOCK}").symlink_to(target)
    scratch.remove_abandoned(tmp_path)
    assert run.is_dir() and target.is_dir()
    assert not (tmp_path / f"{scratch.PREFIX}1-ab{scratch.LOCK}").exists()


def test_a_torch_on_the_path_comes_before_one_next_to_exportdiff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/edited")
    with server_module._environment():
        assert os.environ["PYTHONPATH"].split(os.pathsep) == ["/edited", *import_folders()]
    assert os.environ["PYTHONPATH"] == "/edited"

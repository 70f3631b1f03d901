"""What a campaign does about programs that ruin their process: each failure really happens here."""

from __future__ import annotations

import ctypes
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing

import pytest

from exportdiff.core.case import case_from_source
from exportdiff.fuzzing.campaign.campaign import Campaign
from exportdiff.fuzzing.campaign.events import ExampleDone, FindingFound, HarnessError, KnownSeen
from exportdiff.fuzzing.campaign.settings import CampaignSettings
from exportdiff.fuzzing.campaign.worker import ExampleResult, Job
from exportdiff.judging.judge_case import judge_case
from exportdiff.judging.results import PathResult, Verdict
from exportdiff.runtime.paths import select_paths
from exportdiff.runtime.processes.child import Death
from exportdiff.runtime.processes.executor import WorkerSlots
from exportdiff.runtime.processes.in_child import ReusableWorker, call_fresh
from exportdiff.runtime.processes.limits import MIB, limited
from exportdiff.runtime.processes.server import server_pid
from exportdiff.runtime.processes.usage import PROC, fair_share, process_tree, resident
from support.evidence_of import make_finding

NONSTRICT = select_paths(["nonstrict:*"])
UNFLATTEN = "nonstrict:unflatten@cpu"
SMALL = 700
"""MiB: a process with torch imported takes about 300."""

linux = pytest.mark.skipif(sys.platform != "linux", reason="the limits of a process are read from /proc")


# What a program may do. The child processes can import the modules of the tests.


def segfault() -> None:
    ctypes.string_at(0)


def abort() -> None:
    os.abort()


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fill_memory() -> None:
    kept = []
    while True:
        kept.append(bytearray(os.urandom(1)) * (50 * MIB))
        time.sleep(0.01)


def hang_in_c() -> None:
    """Sleep in C code that keeps the interpreter's lock: no other thread of the process runs."""
    ctypes.PyDLL(None).sleep(600)


def start_many() -> None:
    processes = [subprocess.Popen(["sleep", "600"]) for _ in range(8)]
    time.sleep(600)
    del processes


FAILURES: dict[int, tuple[Callable[[], None], str, str]] = {
    2: (segfault, "abort", "SIGSEGV"),
    4: (abort, "abort", "SIGABRT"),
    5: (killed, "abort", "SIGKILL"),
    7: (fill_memory, "abort", f"more than {SMALL} MiB of memory"),
    9: (hang_in_c, "hang", "no answer within 3 s"),
    10: (start_many, "abort", "more than 4 processes"),
}
"""By the index of the program."""


def source_of(job: Job, index: int) -> tuple[str, tuple[str, ...]]:
    return f"def make():\n    return M(), ()\n# {index}\n", ()


def work(job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    results = []
    for index in indices:
        if index in FAILURES and any(path.runner == "unflatten" for path in job.paths):
            FAILURES[index][0]()
        paths = tuple(PathResult(path, "ok", outcome="agrees") for path in job.paths)
        results.append(ExampleResult(index, Verdict(True, "", paths, (), 0.001)))
    return tuple(results)


def confirmed(source: str, **_how: object) -> object:
    from exportdiff.repro.confirm import Confirmation

    return Confirmation(True, "BUG")


@linux
def test_a_program_that_ruins_its_process_is_named() -> None:
    settings = CampaignSettings(NONSTRICT, examples=12, workers=2, example_seconds=3.0)
    with limited(memory=SMALL, processes=4):
        happened = list(Campaign(settings, work=work, source=source_of, confirm=confirmed).run())  # type: ignore[arg-type]
    assert not [event for event in happened if isinstance(event, HarnessError)]
    assert [event.index for event in happened if isinstance(event, ExampleDone)] == list(range(12))
    found = {event.example: event.finding for event in happened if isinstance(event, FindingFound)}
    assert {
        index: (str(finding.path), finding.kind, finding.evidence.reason)  # type: ignore[attr-defined]
        for index, finding in found.items()
    } == {index: (UNFLATTEN, kind, reason) for index, (_, kind, reason) in FAILURES.items()}
    # The reason is the signature; a limit is not.
    assert found[2].signature == ("alive", "abort", "SIGSEGV")
    assert (found[7].signature, found[9].signature) == (
        ("alive", "abort", "memory"),
        ("alive", "hang", ""),
    )


RUINED = """\
import ctypes
import torch


class M(torch.nn.Module):
    def forward(self, x):
        if torch.compiler.is_exporting():
            {statement}
        return x + 1


def make():
    return M(), (torch.ones(2),)
"""


def ruined(job: Job, index: int) -> tuple[str, tuple[str, ...]]:
    statements = ("ctypes.string_at(0)", "kept = [bytearray(b'1') * (20 << 20) for _ in range(1000)]")
    return RUINED.format(statement=statements[index]), ()


def judge_ruined(job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    results = []
    for index in indices:
        source, _ = ruined(job, index)
        results.append(ExampleResult(index, judge_case(case_from_source(source), job.paths), (), source))
    return tuple(results)


@linux
def test_a_death_is_confirmed_by_the_file_that_is_saved() -> None:
    settings = CampaignSettings(select_paths(["nonstrict:module"]), examples=2, workers=2)
    with limited(memory=2 * SMALL):
        happened = list(Campaign(settings, work=judge_ruined, source=ruined).run())
        found = [event for event in happened if isinstance(event, FindingFound)]
        assert [(each.example, each.finding.kind) for each in found] == [(0, "abort"), (1, "abort")]
    printed = [each.printed for each in found]
    assert printed[0] == f"BUG: {-signal.SIGSEGV}"
    assert re.fullmatch(r"BUG: it takes over \d+ MiB of memory", printed[1])


ENTRY = """\
# /// script
# [tool.exportdiff]
# status = "open"
# path = "nonstrict:module@cpu"
# signatures = [["outputs", "mismatch", "value"]]
# trigger = ["op.flip"]
# ///
def make():
    return M(), ()
"""


def flipped(job: Job, index: int) -> tuple[str, tuple[str, ...]]:
    return source_of(job, index)[0], ("op.flip",)


def die_of_attribution(job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    if job.attribute:
        abort()
    found = make_finding("value", path=str(job.paths[0])) if job.paths else None
    verdict = Verdict(True, "", (), (found,) if found is not None else (), 0.001)
    return (ExampleResult(indices[0], verdict, ("op.flip",)),)


@linux
def test_what_is_found_is_known_even_if_attribution_kills_its_process(tmp_path: pathlib.Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "fixes").mkdir()
    (tmp_path / "open" / "flipped.py").write_text(ENTRY)
    settings = CampaignSettings(select_paths(["nonstrict:module"]), examples=1, corpora=tmp_path)
    happened = list(Campaign(settings, work=die_of_attribution, source=flipped, confirm=confirmed).run())  # type: ignore[arg-type]
    assert not [event for event in happened if isinstance(event, FindingFound | HarnessError)]
    assert [event.entry for event in happened if isinstance(event, KnownSeen)] == ["flipped"]


# The limits of one process.


def write_file(size: int) -> str:
    try:
        pathlib.Path("written").write_bytes(bytes(size))
    except OSError as error:
        return str(error.strerror)
    return "written"


def test_files_have_a_limit_and_are_removed() -> None:
    with limited(file_size=1):
        assert call_fresh(60, write_file, 2 * MIB) == "File too large"
        assert call_fresh(60, write_file, MIB // 2) == "written"
    assert not pathlib.Path("written").exists()


def look_around() -> tuple[str, list[str]]:
    pathlib.Path("left behind").touch()
    return str(pathlib.Path.cwd()), sorted(file.name for file in pathlib.Path().iterdir())


def test_a_child_sees_the_current_files_in_a_new_folder(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "weights").touch()
    monkeypatch.chdir(tmp_path)
    answer = call_fresh(60, look_around)
    assert isinstance(answer, tuple)
    folder, files = answer
    assert files == ["left behind", "weights"]
    assert not pathlib.Path(folder).exists()
    assert [file.name for file in tmp_path.iterdir()] == ["weights"]


def connect(port: int) -> str:
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
    except OSError as error:
        return type(error).__name__
    return "connected"


def isolated() -> bool:
    from exportdiff.runtime.processes.network import leave_network

    return leave_network()


@linux
def test_a_child_has_no_network() -> None:
    with limited(network=True):
        possible = call_fresh(60, isolated)
    if possible is not True:
        pytest.skip("this system grants no network of its own")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert call_fresh(60, connect, port) == "OSError"
        with limited(network=True):
            assert call_fresh(60, connect, port) == "connected"


def grow(mebibytes: int) -> int:
    KEPT.append(bytearray(os.urandom(1)) * (mebibytes * MIB))
    return os.getpid()


KEPT: list[bytearray] = []


@linux
def test_a_worker_that_has_grown_is_replaced() -> None:
    with ReusableWorker(growth=100) as worker:
        first = worker.ask(60, grow, 0)
        assert [worker.ask(60, grow, 40) for _ in range(3)] == [first] * 3
        second = worker.ask(60, grow, 0)
        assert isinstance(second, int) and second != first
        assert worker.ask(60, grow, 50) == second


def test_a_worker_is_replaced_after_so_many_tasks() -> None:
    with ReusableWorker(tasks=2) as worker:
        pids = [worker.ask(60, os.getpid) for _ in range(4)]
    assert pids[0] == pids[1] != pids[2] == pids[3]


@linux
def test_usage_counts_what_a_process_has_started() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1) as process:
        assert {os.getpid(), process.pid} <= set(process_tree(os.getpid()))
        process.communicate(b"\n")
    assert resident(os.getpid()) > 10 * MIB
    assert fair_share(os.getpid()) > 10 * MIB
    assert resident(0) == fair_share(0) == 0


def oom_score() -> str:
    return (PROC / "self" / "oom_score_adj").read_text().strip()


@linux
def test_where_the_machine_has_no_memory_left_a_child_ends_first() -> None:
    assert call_fresh(60, oom_score) == "1000"


def hang(started: pathlib.Path) -> None:
    started.touch()
    time.sleep(600)


@linux
def test_the_fork_server_is_killed_and_started_again(tmp_path: pathlib.Path) -> None:
    with closing(WorkerSlots([ReusableWorker()])) as places:
        task = places.submit(60, hang, tmp_path / "started")
        while not (tmp_path / "started").exists():
            time.sleep(0.05)
        before = server_pid()
        os.kill(before, signal.SIGKILL)
        answer = task.wait()
        assert isinstance(answer, Death) and answer.kind == "abort"
        assert isinstance(places.submit(60, os.getpid).wait(), int)
    assert server_pid() != before

"""What a user's environment does wrong is one line and exit code 2, or does no harm."""

from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess
import sys
import threading
from typing import Any

import pytest

from exportdiff.cli import main
from exportdiff.core.errors import UsageError
from exportdiff.core.own_code import import_folders
from exportdiff.interfaces.checking.in_subprocess import LoadableModel, _Judging
from exportdiff.runtime.processes import child as child_module
from exportdiff.runtime.processes.child import Child, Death, Stopped
from exportdiff.runtime.processes.in_child import call_fresh

FULL = pathlib.Path("/dev/full")
RESULT = """
import torch

def make():
    return torch.nn.ReLU(), (torch.ones(2, 3),)
"""


@pytest.mark.skipif(not FULL.exists(), reason="a device of Linux")
@pytest.mark.parametrize("command", [["paths"], ["paths", "--json"], ["--help"]])
def test_a_full_disk_is_one_line(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with contextlib.suppress(OSError), FULL.open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main(command) == 2
    assert capsys.readouterr().err == (
        "exportdiff: standard output cannot be written: No space left on device\n"
    )


def test_a_reader_that_leaves_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with contextlib.suppress(OSError), os.fdopen(writer, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        assert main(["paths"]) == 2  # rich alone would exit with 1: findings
    assert capsys.readouterr().err == "exportdiff: standard output cannot be written: Broken pipe\n"


def test_a_deleted_folder_is_one_line(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main(["paths"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "the current folder cannot be used (No such file" in error


def run(folder: pathlib.Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(import_folders())}
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


def test_files_that_are_named_like_modules_of_python_do_no_harm(tmp_path: pathlib.Path) -> None:
    (tmp_path / "json.py").write_text(f"raise ImportError\n{RESULT}")
    (tmp_path / "model.py").write_text(RESULT)
    version = run(tmp_path, "-m", "exportdiff", "--version")
    assert (version.returncode, version.stderr) == (0, "")
    # No Python starts with -m next to such a file; the installed command is started as with -P.
    for name in ("types", "random", "enum"):
        (tmp_path / f"{name}.py").write_text("raise ImportError\n")
    check = run(tmp_path, "-P", "-m", "exportdiff", "check", "model.py:make", "--paths", "nonstrict:module")
    assert (check.returncode, check.stderr) == (0, "")


def test_a_server_that_does_not_start_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def end(*_: object) -> None:
        raise EOFError("unexpected EOF")

    monkeypatch.setattr(Child, "_started", end)
    monkeypatch.setattr(child_module, "END_SECONDS", 0.0)
    with pytest.raises(UsageError, match=r"can be started \(EOFError: unexpected EOF\)"):
        Child(end)
    monkeypatch.setattr(child_module, "limit_of_the_shell", lambda: "ulimit -t allows 2 s of CPU time")
    with pytest.raises(UsageError, match="ulimit -t allows 2 s of CPU time"):
        Child(end)


def kill_self() -> None:
    os.kill(os.getpid(), 9)


def test_a_limit_of_the_shell_is_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    assert call_fresh(60, kill_self) == Death("abort", "SIGKILL")
    monkeypatch.setattr(child_module, "limit_of_the_shell", lambda: "ulimit -t allows 2 s of CPU time")
    death = call_fresh(60, kill_self)
    assert isinstance(death, Death) and death.of_shell

    class Dead:
        def receive(self, seconds: float, stop: threading.Event | None, deadline: float) -> object:
            return death

    dead: Any = Dead()
    model = LoadableModel("models.py:make", lambda: None)  # type: ignore[arg-type, return-value]
    judging = _Judging(model, (), float("inf"), None, lambda step: None, None)
    with pytest.raises(Stopped, match="ulimit -t allows 2 s"):
        judging.next(dead)

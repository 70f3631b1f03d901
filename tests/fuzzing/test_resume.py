"""A campaign that was killed goes on where it was, and ends with the summary of one that was never killed."""

from __future__ import annotations

import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from exportdiff.cli import main
from exportdiff.core.errors import UsageError
from exportdiff.fuzzing.campaign.journal import Journal
from exportdiff.fuzzing.campaign.settings import CampaignSettings
from exportdiff.runtime.paths import select_paths
from support.folders import ROOT

ARGUMENTS = (
    "--examples",
    "12",
    "--seed",
    "4",
    "--minimize",
    "0",
    "--paths",
    "nonstrict:*",
    "--device",
    "cpu",
)
OF_TIME = {"seconds", "fuzzing_seconds", "examples_per_second", "torch_seconds", "first_seconds"}


def _start(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "exportdiff", "fuzz", *arguments]
    pipe = subprocess.PIPE
    # Its own process group: the test kills the whole of it.
    return subprocess.Popen(
        command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True, start_new_session=True, **options
    )


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_times(item) for key, item in value.items() if key not in OF_TIME}
    return [_without_times(item) for item in value] if isinstance(value, list) else value


def _summary(folder: pathlib.Path) -> Any:
    return _without_times(json.loads((folder / "summary.json").read_text()))


def _lines(file: pathlib.Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


def _wait_for(file: pathlib.Path, lines: int, running: subprocess.Popen[str]) -> None:
    while _lines(file) < lines and running.poll() is None:
        time.sleep(0.05)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return a corpus that knows nothing: every finding is new, and is confirmed in a fresh process."""
    return tmp_path_factory.mktemp("corpus")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, empty: pathlib.Path) -> pathlib.Path:
    """Return the folder of a campaign that nobody killed."""
    folder = tmp_path_factory.mktemp("whole")
    assert main(["fuzz", *ARGUMENTS, "--corpora", str(empty), "--workers", "1", "--out", str(folder)]) == 1
    assert _summary(folder)["findings"]
    return folder


def _kill_one(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def _kill_all(pid: int) -> None:
    os.killpg(pid, signal.SIGKILL)


def _killed(kill: Callable[[int], None], folder: pathlib.Path, *arguments: str) -> None:
    """Run a campaign, and kill it when it has done more than before."""
    journal = folder / "journal.ndjson"
    running = _start(*arguments)
    _wait_for(journal, _lines(journal) + 2, running)
    assert running.poll() is None
    kill(running.pid)
    running.communicate()
    assert not (folder / "summary.json").exists()


def _stopped(running: subprocess.Popen[str]) -> str:
    """Wait for a campaign that cannot go on; return the one line that it prints on standard error."""
    _, errors = running.communicate()
    assert running.returncode == 2 and len(errors.splitlines()) == 1, errors
    return errors


def test_a_campaign_goes_on_whatever_has_ended_it(
    whole: pathlib.Path, empty: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One campaign is ended in four ways, and resumed after each."""
    journal, log, findings = tmp_path / "journal.ndjson", tmp_path / "events.ndjson", tmp_path / "findings"
    resume = ("--resume", str(tmp_path), "--workers", "2")

    # A file is where its folder was.
    running = _start(*ARGUMENTS, "--corpora", str(empty), "--workers", "1", "--out", str(tmp_path))
    _wait_for(log, 1, running)
    findings.rmdir()
    findings.touch()
    assert str(findings) in _stopped(running)
    findings.unlink()
    findings.mkdir()

    # It is killed with all its workers, in the middle of a line.
    _killed(_kill_all, tmp_path, *resume)
    with journal.open("a") as file:
        file.write('{"data":"exportdiff.fuzzing.campaign.jour')
    with log.open("a") as file:
        file.write('{"event":\n\0damaged\n')

    # The disk is full.
    limit = max(journal.stat().st_size, log.stat().st_size) + 500

    def small_disk() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    assert f"exportdiff fuzz --resume {tmp_path}" in _stopped(_start(*resume, preexec_fn=small_disk))

    # It is killed, and its workers are not.
    _killed(_kill_one, tmp_path, *resume)

    done = _lines(journal)
    assert main(["fuzz", "--resume", str(tmp_path), "--workers", "1"]) == 1
    assert f"continuing in {tmp_path}" in capsys.readouterr().out
    assert _summary(tmp_path) == _summary(whole)
    # Nothing was done twice: the journals have the same results and answers.
    assert done < _lines(journal) == _lines(whole / "journal.ndjson")
    logged = [json.loads(line)["event"] for line in log.read_text().splitlines()]
    assert (logged[0], logged[-1]) == ("campaign_started", "campaign_finished")
    assert {file.name for file in findings.iterdir()} == {
        file.name for file in (whole / "findings").iterdir()
    }


@pytest.mark.nightly
def test_ten_kills_at_random_moments_change_nothing(empty: pathlib.Path, tmp_path: pathlib.Path) -> None:
    arguments = [*ARGUMENTS, "--examples", "60", "--corpora", str(empty), "--workers", "2"]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    _start(*arguments, "--out", str(whole)).communicate()
    moments = random.Random(0)
    command = [*arguments, "--out", str(killed)]
    for number in range(10):
        running = _start(*command)
        _wait_for(
            killed / "journal.ndjson", _lines(killed / "journal.ndjson") + moments.randint(0, 3), running
        )
        time.sleep(moments.uniform(0.0, 1.0))
        assert running.poll() is None, number
        moments.choice([_kill_one, _kill_all])(running.pid)
        running.communicate()
        command = ["--resume", str(killed), "--workers", "2"]
    resumed = _start(*command)
    resumed.communicate()
    assert resumed.returncode == 1
    assert _summary(killed) == _summary(whole)
    assert _lines(killed / "journal.ndjson") == _lines(whole / "journal.ndjson")


def test_shards_are_merged_into_what_one_campaign_gives(
    whole: pathlib.Path, empty: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shards = [tmp_path / name for name in ("first", "second")]
    for number, folder in enumerate(shards, 1):
        out = ("--corpora", str(empty), "--workers", "1", "--out", str(folder))
        assert main(["fuzz", *ARGUMENTS, *out, "--shard", f"{number}/2"]) in (0, 1)
    names = [str(folder) for folder in shards]
    assert main(["merge", *names, "--out", str(tmp_path / "joint")]) == 1
    assert _summary(tmp_path / "joint") == _summary(whole)
    capsys.readouterr()
    assert main(["merge", names[0], names[0], "--out", str(tmp_path / "again")]) == 2
    assert "both have program 0" in capsys.readouterr().err
    assert main(["merge", *names, "--out", names[0]]) == 2
    assert "is one of the folders to merge" in capsys.readouterr().err
    # Of a shard alone, the rest is not run.
    assert main(["merge", names[1], "--out", str(tmp_path / "half")]) == 1
    assert _summary(tmp_path / "half")["examples"] == 6


@pytest.fixture
def journal(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return the journal of a campaign that has done nothing."""
    file = tmp_path / "journal.ndjson"
    with Journal.begin(file, CampaignSettings(select_paths(["nonstrict:*"]))):
        pass
    return file


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"torch":"', '"torch":"1.', "begun with torch 1."),
        ('"python":"', '"python":"2.', "begun with Python 2."),
        ('"exportdiff":"', '"exportdiff":"9', "begun with exportdiff 9"),
        ('{"data"', "{data", "line 1 of journal.ndjson is damaged"),
    ],
)
def test_a_campaign_of_another_torch_is_refused(
    journal: pathlib.Path, old: str, new: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = journal.read_text().replace(old, new, 1)
    journal.write_text(text)
    assert main(["fuzz", "--resume", str(journal.parent)]) == 2
    printed = capsys.readouterr().err
    assert words in printed
    assert len(printed.splitlines()) == 1
    assert journal.read_text() == text


def test_a_damaged_line_is_named(journal: pathlib.Path) -> None:
    text = journal.read_text() + "damaged\n"
    journal.write_text(text)
    with pytest.raises(UsageError, match=r"line 2 of journal\.ndjson is damaged"):
        Journal.read(journal)
    assert journal.read_text() == text


def test_a_folder_without_a_campaign_is_refused(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fuzz", "--resume", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_other_settings_are_refused(journal: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--resume", str(journal.parent), "--seed", "5"]) == 2
    assert "--seed cannot be combined with --resume" in capsys.readouterr().err

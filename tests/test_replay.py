"""``exportdiff replay``: it prints one word for each file, and no file affects another file."""

from __future__ import annotations

import pathlib

import pytest

from harness.cli import main

HEADER = """\
# /// script
# dependencies = ["torch"]
#
# [tool.exportdiff]
# status = "{}"
# ///
def make():
    return None
"""

FILES = {
    "ok_open": (HEADER.format("open") + "import sys\nprint('BUG')\nsys.exit(1)\n", "as recorded"),
    "ok_seed": (HEADER.format("seed") + "import sys\nprint('ok')\nsys.exit(0)\n", "as recorded"),
    "fixed": (HEADER.format("open") + "print('ok')\n", "FIXED"),
    "again": (HEADER.format("fixed") + "import sys\nsys.exit(1)\n", "BROKEN"),
    "syntax": (HEADER.format("open") + "def f(:\n", "BROKEN"),
    "raises": (HEADER.format("open") + "made()\n", "BROKEN"),
    "no_make": (HEADER.format("open").replace("make", "mock"), "BROKEN"),
    "imports_numpy": (HEADER.format("open") + "import numpy\n", "BROKEN"),
    "null": (HEADER.format("open") + "\0", "BROKEN"),
    "endless": (HEADER.format("open") + "import time\nwhile True:\n    time.sleep(1)\n", "BROKEN"),
    "segfault": (HEADER.format("open") + "import ctypes\nctypes.string_at(0)\n", "BROKEN"),
    "odd_exit": (HEADER.format("open") + "import os\nos._exit(3)\n", "BROKEN"),
    "no_header": ("print('hello')\n", "BROKEN"),
    "no_status": (HEADER.format("whatever"), "BROKEN"),
    "bad_toml": ("# /// script\n# a = = 1\n# ///\n", "BROKEN"),
    "after_failures": (HEADER.format("seed") + "print('ok')\n", "as recorded"),
}

DETAILS = {
    "syntax": "SyntaxError",
    "raises": "NameError: name 'made' is not defined (line 9)",
    "no_make": "defines no make()",
    "imports_numpy": "imports numpy",
    "fixed": "exportdiff corpus close",
    "endless": "time limit",
    "segfault": "SIGSEGV",
    "odd_exit": "exit code 3",
    "no_header": "header",
    "no_status": "'whatever'",
}


def test_replay_prints_the_status_of_every_file(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, (text, _) in FILES.items():
        (tmp_path / f"{name}.py").write_text(text)
    missing = tmp_path / "gone.py"
    assert main(["replay", "--limit", "2s", str(tmp_path), str(missing)]) == 1
    lines = {pathlib.Path(line[13:].split("  ")[0]).stem: line for line in _lines(capsys)}
    assert {name: line[:11].strip() for name, line in lines.items()} == {
        **{name: word for name, (_, word) in FILES.items()},
        "gone": "BROKEN",
    }
    for name, detail in DETAILS.items():
        assert detail in lines[name]


def test_replay_exits_with_0_if_all_files_are_as_recorded(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.py"
    file.write_text(FILES["ok_open"][0])
    assert main(["replay", str(file)]) == 0
    assert _lines(capsys) == [f"as recorded  {file}  (open) BUG"]


def test_replay_without_any_file_is_a_usage_error(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["replay"]) == 2
    assert "corpora/" in capsys.readouterr().err


def _lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()

"""The documents say what is true: their Python runs, their commands exist."""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

from exportdiff.cli import make_parser, reference
from support.folders import ROOT

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _blocks(language: str) -> list[tuple[str, str]]:
    return [
        (name, text)
        for name in DOCUMENTS
        for kind, text in FENCE.findall((ROOT / name).read_text(encoding="utf-8"))
        if kind == language
    ]


def _commands() -> list[str]:
    lines = [line for _, block in _blocks("sh") for line in block.splitlines()]
    lines += re.findall(r"run: (exportdiff .*)", "\n".join(block for _, block in _blocks("yaml")))
    return [line.partition("#")[0].strip() for line in lines if line.startswith("exportdiff ")]


PYTHON = _blocks("python")


@pytest.mark.parametrize("number", range(len(PYTHON)))
def test_the_python_in_the_documents_runs(number: int, tmp_path: pathlib.Path) -> None:
    _, text = PYTHON[number]
    file = tmp_path / "block.py"
    # Where it defines tests, they run: three examples of a property are enough to see that it is right.
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command = [*tests, str(file)] if "def test_" in text else [str(file)]
    file.write_text(text.replace("@settings(deadline=None)", "@settings(deadline=None, max_examples=3)"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=300, cwd=tmp_path, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("command", _commands())
def test_the_commands_in_the_documents_exist(command: str) -> None:
    words = shlex.split(re.sub(r"\[(\S+)\]", r"\1", command))[1:]
    with contextlib.redirect_stderr(io.StringIO()) as told:
        try:
            make_parser().parse_args(words)
        except SystemExit:
            pytest.fail(told.getvalue())


def test_the_links_in_the_documents_lead_somewhere() -> None:
    for name in DOCUMENTS:
        text = (ROOT / name).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
            assert "://" in target or (ROOT / target).exists(), f"{name}: {target}"


def test_the_reference_is_that_of_the_parsers() -> None:
    assert reference.FILE.read_text(encoding="utf-8") == reference.text(), (
        "run: python -m exportdiff.cli.reference"
    )

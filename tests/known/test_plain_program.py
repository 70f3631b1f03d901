"""The plain program of an entry, of which reports and tests of PyTorch consist."""

from __future__ import annotations

import ast
import pathlib
import re

import pytest

from exportdiff.cli import main
from exportdiff.core.errors import UsageError
from exportdiff.known.corpus.entry import read_entry
from exportdiff.known.upstream.plain_program import plain_program, run_program
from exportdiff.runtime.processes.script import run_file
from support.folders import CORPORA
from support.the_corpus import all_causes

HEADER = """\
# /// script
# [tool.exportdiff]
# title = "torch.add: one and one is three, for tensors"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a test"
# cause = "add, in torch/add.py, adds one too many."
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "{kind}"
# status = "open"
# affected = "2.13.0"
# at-fault = "torch/add.py, add: n + 1"
# upstream = ""
# upstream-searched = "2026-11-26"
# ///
"""

MODEL = '''
"""Adds."""

import io
import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x + 1


def helper():
    return 1


def make():
    model = Model()
    model.extra = 1
    return model, (torch.ones(1),)
'''

WRONG = """
def show():
    model, args = make()
    return model(*args), model(*args) + 1


if __name__ == "__main__":
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, here {got}")
    raise SystemExit(bug)
"""

FAILS = """
def show():
    model, args = make()
    return model(*args), args[0].view(
        3
    )


if __name__ == "__main__":
    try:
        show()
    except RuntimeError as error:
        sys.exit(f"BUG: view raises {error}")
    print("ok: view raises nothing")
"""


@pytest.fixture
def entry_file(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "adds_wrongly.py"


def write(file: pathlib.Path, kind: str, body: str) -> None:
    file.write_text(HEADER.format(kind=kind) + MODEL.lstrip() + body)


def test_the_program_of_a_wrong_value_ends_in_two_prints(entry_file: pathlib.Path) -> None:
    write(entry_file, "mismatch", WRONG)
    program = plain_program(read_entry(entry_file))
    text = program.text(prints=True)
    assert text.splitlines()[-6:] == [
        "model = Model()",
        "model.extra = 1",
        "args = (torch.ones(1),)",
        "expected, got = model(*args), model(*args) + 1",
        "print(expected)  # expected",
        "print(got)  # got",
    ]
    assert program.imports == ("from torch import nn",)
    assert "helper" not in text and "make" not in text and "show" not in text
    shown = run_program(program)
    assert (shown.right, shown.values) == (False, ("tensor([2.])", "tensor([3.])"))


def test_a_model_that_is_made_twice_keeps_its_function(entry_file: pathlib.Path) -> None:
    write(entry_file, "mismatch", WRONG.replace("model(*args) + 1", "make()[0](*args)"))
    program = plain_program(read_entry(entry_file))
    assert program.statements.startswith("model, args = make()\n")
    assert program.definitions[-1].startswith("def make():\n")
    assert run_program(program).right


def test_the_program_of_a_crash_ends_in_the_call_that_raises(entry_file: pathlib.Path) -> None:
    write(entry_file, "crash", FAILS)
    program = plain_program(read_entry(entry_file))
    shown = run_program(program)
    assert (shown.error, shown.line) == ("RuntimeError", 4)
    assert shown.traceback.splitlines()[1].strip().startswith('File "repro.py"')


def test_a_file_without_show_has_no_plain_program(entry_file: pathlib.Path) -> None:
    write(entry_file, "mismatch", "")
    with pytest.raises(UsageError, match=r"defines no show\(\), which returns what eager gives and what the"):
        plain_program(read_entry(entry_file))


def test_every_root_cause_has_a_plain_program() -> None:
    for entry in (cause.entry for cause in all_causes()):
        program = plain_program(entry)
        text = program.text(prints=program.compares)
        calls = [ast.unparse(node.func) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
        assert calls.count("print") == 2 * program.compares, entry.name
        assert not {"SystemExit", "sys.exit", "show"} & set(calls), entry.name
        raises = entry.harm is not None and entry.harm.endswith("error")
        assert program.compares or raises or not entry.silent, entry.name


def test_the_example_in_the_documents_is_an_entry(tmp_path: pathlib.Path) -> None:
    text = (CORPORA.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    wrong_value, crash = re.findall(
        r"```python\n(.*?)```", text.partition("What an entry defines")[2], re.DOTALL
    )[:2]
    file = tmp_path / "example.py"
    file.write_text(HEADER.format(kind="mismatch") + wrong_value)
    assert not read_entry(file).problem
    run = run_file(file)
    assert (run.code, run.last_line[:21]) == (1, "BUG: eager gives tens")
    assert run_program(plain_program(read_entry(file))).values[1] == "tensor([1., 1.])"
    start = wrong_value.index("    expected, got = show()")
    file.write_text(wrong_value[:start].replace("torch.cat([x, x])", "x.view(3)") + crash)
    run = run_file(file)
    assert (run.code, run.last_line[:19]) == (1, "BUG: eager raises n")


def test_issue_shows_what_is_expected_and_what_comes_first(
    entry_file: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(entry_file.parent)
    write(entry_file, "mismatch", WRONG)
    assert main(["issue", str(entry_file)]) == 0
    title, _, rest = capsys.readouterr().out.partition("\n")
    assert title == "torch.add: one and one is three, for tensors"
    described = rest.partition("```python")[0]
    assert "Expected: `tensor([2.])`\nGot: `tensor([3.])`\n\nCause: add, in torch/add.py" in described
    assert "At fault: torch/add.py, add: n + 1." in rest
    assert "Thread about it: not found in the search of 2026-11-26." in rest
    assert "Tried on 2.13.0: shows." in rest
    assert "bug = " not in rest


def test_issue_shows_the_traceback_of_a_crash(
    entry_file: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(entry_file.parent)
    write(entry_file, "crash", FAILS)
    assert main(["issue", str(entry_file)]) == 0
    printed = capsys.readouterr().out
    assert "Expected: no error, as in eager.\nGot: `RuntimeError: shape '[3]' is invalid" in printed
    assert "expected, got = model(*args), args[0].view(" in printed
    assert "print(" not in printed
    assert 'Traceback (most recent call last):\n  File "repro.py"' in printed

"""The program of an entry without its scaffolding: what reports and tests of PyTorch's are made of."""

from __future__ import annotations

import ast
import pathlib

import pytest

from exportdiff.cli import main
from exportdiff.core.errors import UsageError
from exportdiff.known.corpus.entry import read_entry
from exportdiff.known.corpus.ranking import read_root_causes
from exportdiff.known.upstream.demonstration import Equal, Holds, Raises, demonstration
from exportdiff.known.upstream.plain_program import program_text, run_program
from exportdiff.known.upstream.pytorch_test import Refusal, file_of_test
from support.folders import CORPORA

CAUSES = {cause.entry.name: cause for cause in read_root_causes(CORPORA)}

HEADER = """\
# /// script
# [tool.exportdiff]
# title = "torch.add: one and one is three, for tensors"
# severity = "C"
# severity-because = "a test"
# cause = "add, in torch/add.py, adds one too many."
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "{kind}"
# status = "open"
# affected = "2.13.0"
# at-fault = "torch/add.py, add: n + 1"
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


if __name__ == "__main__":
'''

WRONG = """\
    model, args = make()
    expected, seen = model(*args), model(*args) + 1
    bug = not torch.equal(expected, seen)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, here {seen}")
    raise SystemExit(bug)
"""

FAILS = """\
    model, args = make()
    seen = "nothing"
    try:
        seen, bug = args[0].view(3), False
    except RuntimeError as error:
        seen, bug = error, True
    print(f"{'BUG' if bug else 'ok'}: eager gives {model(*args)}, here {seen}")
    raise SystemExit(bug)
"""


@pytest.fixture
def entry_file(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "adds_wrongly.py"


def write(file: pathlib.Path, kind: str, body: str) -> None:
    file.write_text(HEADER.format(kind=kind) + MODEL.lstrip() + body)


def test_the_program_of_a_wrong_value_ends_in_two_prints(entry_file: pathlib.Path) -> None:
    write(entry_file, "mismatch", WRONG)
    demo = demonstration(read_entry(entry_file))
    assert demo.outcome == Equal("expected", "seen")
    text = program_text(demo)
    assert text.splitlines()[-5:] == [
        "model = Model()",
        "model.extra = 1",
        "args = (torch.ones(1),)",
        "print(model(*args))  # expected",
        "print(model(*args) + 1)  # got",
    ]
    assert "io" not in text.split() and "helper" not in text and "make" not in text
    shown = run_program(demo)
    assert (shown.right, shown.values) == (False, ("tensor([2.])", "tensor([3.])"))


def test_the_program_of_a_crash_ends_in_the_call_that_raises(entry_file: pathlib.Path) -> None:
    write(entry_file, "crash", FAILS)
    demo = demonstration(read_entry(entry_file))
    assert isinstance(demo.outcome, Raises)
    assert demo.steps[-1] == "args[0].view(3)"
    shown = run_program(demo)
    assert (shown.error, shown.step) == ("RuntimeError", len(demo.steps) - 1)
    assert shown.traceback.splitlines()[1].strip().startswith('File "repro.py"')


def test_a_file_that_says_nothing_of_its_bug_has_no_demonstration(entry_file: pathlib.Path) -> None:
    write(entry_file, "mismatch", "    sys.exit(1)\n")
    with pytest.raises(UsageError, match="does not say"):
        demonstration(read_entry(entry_file))
    write(entry_file, "crash", "    sys.exit(1)\n")
    with pytest.raises(UsageError, match="catches"):
        demonstration(read_entry(entry_file))


def test_a_refusal_is_what_the_test_demands(entry_file: pathlib.Path) -> None:
    write(entry_file, "crash", FAILS)
    entry = read_entry(entry_file)
    demo = demonstration(entry)
    refusal = Refusal("torch._dynamo.exc.UserError", "x (here) is refused", len(demo.steps) - 1)
    path, text = file_of_test(entry, demo, refusal)
    assert path == "test/export/test_adds_wrongly.py"
    assert r'with self.assertRaisesRegex(UserError, r"x \(here\) is refused"):' in text
    assert "from torch._dynamo.exc import UserError" in text
    compile(text, path, "exec")


@pytest.mark.parametrize("name", CAUSES)
def test_every_root_cause_can_be_shown_without_scaffolding(name: str) -> None:
    entry = CAUSES[name].entry
    demo = demonstration(entry)
    tree = ast.parse(program_text(demo))
    calls = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    prints = {Equal: 2, Holds: 1, Raises: 0}[type(demo.outcome)]
    assert calls.count("print") == prints
    assert not {"SystemExit", "sys.exit"} & set(calls)
    assert not any(
        isinstance(node, ast.Try) for node in ast.walk(ast.Module(tree.body[-len(demo.steps) :], []))
    )
    assert isinstance(demo.outcome, Raises) or entry.silent


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
    assert "Affected: torch 2.13.0." in rest
    assert "bug = " not in rest


def test_issue_shows_the_traceback_of_a_crash(
    entry_file: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(entry_file.parent)
    write(entry_file, "crash", FAILS)
    assert main(["issue", str(entry_file)]) == 0
    printed = capsys.readouterr().out
    assert "Expected: no error, as in eager.\nGot: `RuntimeError: shape '[3]' is invalid" in printed
    assert "model(*args)  # eager works" in printed
    assert 'Traceback (most recent call last):\n  File "repro.py"' in printed

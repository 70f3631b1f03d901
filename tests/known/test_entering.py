"""The commands of the corpus: add, close, list, verify and issue; canonical forms and lines of code."""

from __future__ import annotations

import json
import pathlib

import pytest

from exportdiff.cli import main
from exportdiff.core.program_text.canonical import canonical_digest
from exportdiff.core.program_text.line_count import code_lines
from exportdiff.core.torch_versions import torch_version
from exportdiff.known.corpus.entry import RENAMED_KEYS, read_entry
from exportdiff.known.corpus.verify import MAX_LINES

REPRO = '''\
# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# fingerprint = "0123456789"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# stage = "run"
# signature = ["outputs", "mismatch", "value"]
# torch = "2.13.0"
# status = "open"
# ///
"""One and one is not two."""

import sys

import torch


def make():
    return torch.nn.Identity(), (torch.ones(1),)


if __name__ == "__main__":
    print("BUG: 1 + 1 is 3")
    sys.exit(1)
'''


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """Change to a new folder with a repro file and an empty corpus."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "repro.py").write_text(REPRO)
    (tmp_path / "corpora" / "fixes").mkdir(parents=True)  # a corpus is known by it
    return tmp_path


def test_corpus_add_makes_an_entry_from_a_repro_file(
    folder: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["corpus", "add", "repro.py", "--name", "adds_wrongly"]) == 0
    printed = capsys.readouterr().out
    assert "corpora/open/adds_wrongly.py" in printed
    assert "harm, reach and topics, or variant-of, at-fault, fix or trigger, upstream" in printed
    entry = read_entry(folder / "corpora" / "open" / "adds_wrongly.py")
    assert (entry.status, entry.problem, entry.title) == ("open", "", "One and one is not two.")
    assert entry.signatures == (("outputs", "mismatch", "value"),)
    assert len(entry.fingerprint) == 10
    assert main(["replay"]) == 0
    assert main(["corpus", "list"]) == 0
    assert "corpora/open/adds_wrongly.py" in capsys.readouterr().out
    assert main(["corpus", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["fingerprint"] == entry.fingerprint


def test_corpus_verify_lists_what_an_entry_lacks(
    folder: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["corpus", "add", "repro.py", "--name", "adds_wrongly"])
    assert main(["corpus", "verify"]) == 1
    printed = capsys.readouterr().out
    assert "has no at-fault" in printed
    assert "has no upstream" in printed
    assert "defines no show(), which returns what eager gives and what the path gives" in printed
    assert "needs either a fix or a trigger" in printed
    file = folder / "corpora" / "open" / "adds_wrongly.py"
    fields = '# at-fault = "arithmetic"\n# upstream = ""\n# trigger = ["op.cond"]\n# status'
    file.write_text(file.read_text().replace("# status", fields))
    assert main(["corpus", "verify"]) == 1
    assert "'op.cond' in its trigger, which is not a tag" in capsys.readouterr().out
    file.write_text(file.read_text().replace('["op.cond"]', '["control.cond"]'))
    main(["corpus", "verify"])
    printed = capsys.readouterr().out
    assert "is not a tag" not in printed or "control.cond" in printed
    file.write_text(file.read_text() + "    x = 1\n" * MAX_LINES)
    main(["corpus", "verify"])
    assert f"lines of code; at most {MAX_LINES}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('upstream-searched = "2026-11-26"', ""),
        ('upstream-searched = "in November"', "expected a day like '2026-11-26'"),
        ('upstream-searched = ""', "expected a day like '2026-11-26'"),
        ('defended = "https://github.com/pytorch/pytorch/issues/1: it is meant"', ""),
        ('defended = "it is meant"', "expected 'THREAD: REASON'"),
        ('defended = "https://github.com/pytorch/pytorch/issues/1"', "expected 'THREAD: REASON'"),
    ],
)
def test_a_header_says_when_threads_were_searched_for(folder: pathlib.Path, line: str, problem: str) -> None:
    file = folder / "repro.py"
    file.write_text(REPRO.replace("# status", f"# {line}\n# status"))
    entry = read_entry(file)
    assert problem in entry.problem and bool(entry.problem) == bool(problem)
    if not problem:
        key, _, value = line.partition(" = ")
        assert getattr(entry, key.replace("-", "_")) == value.strip('"')


@pytest.mark.parametrize(("old", "new"), RENAMED_KEYS.items())
def test_an_old_header_key_is_refused_with_what_to_write_instead(
    folder: pathlib.Path, old: str, new: str
) -> None:
    file = folder / "repro.py"
    file.write_text(REPRO.replace("# status", f'# {old} = "text"\n# status'))
    assert read_entry(file).problem == f"has the key {old!r} in [tool.exportdiff]; write {new} instead"


@pytest.mark.parametrize(
    ("text", "name", "what"),
    [
        (REPRO, "not-a-name", "name an entry like a Python module"),
        (REPRO.replace("import sys", "import sys, numpy"), "a", "imports numpy"),
        (REPRO.replace("def make", "def made"), "a", "defines no make()"),
        (REPRO.replace("sys.exit(1)", "sys.exit(0)"), "a", "does not show its bug"),
        (REPRO.replace("sys.exit(1)", "raise KeyError(2)"), "a", "KeyError: 2"),
        ("print('hello')\n", "a", "has no '# /// script' header"),
        ("def f(:\n", "a", "header"),
        (REPRO.replace("def make()", "def make(:"), "a", "does not parse"),
    ],
)
def test_corpus_add_refuses_a_file_that_is_not_a_repro_file(
    folder: pathlib.Path, text: str, name: str, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "repro.py").write_text(text)
    assert main(["corpus", "add", "repro.py", "--name", name]) == 2
    error = capsys.readouterr().err
    assert what in error
    assert len(error.splitlines()) == 1
    assert not list((folder / "corpora").rglob("*.py"))


@pytest.mark.parametrize(
    ("key", "what"),
    [
        ("unmasked-by", "add its signature to 'unmasked' in the header of an entry with the fix mend_it"),
        ("caused-by", "shows a mistake of a fix, not of torch (caused-by): correct the fix mend_it"),
    ],
)
def test_the_corpus_has_no_entries_that_only_torch_with_fixes_shows(
    folder: pathlib.Path, key: str, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = REPRO.replace("# status", f'# {key} = ["mend_it", "other"]\n# status')
    (folder / "repro.py").write_text(text)
    for command in (["add", "repro.py", "--name", "a", "--force"], ["close", "repro.py"]):
        assert main(["corpus", *command]) == 2
        error = capsys.readouterr().err
        assert what in error and error.count("\n") == 1
    assert not list((folder / "corpora").rglob("*.py"))


def test_corpus_close_moves_an_entry_that_passes(
    folder: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["corpus", "add", "repro.py", "--name", "a"])
    file = folder / "corpora" / "open" / "a.py"
    assert main(["corpus", "close", str(file)]) == 2
    assert "does not pass with this torch: BUG" in capsys.readouterr().err
    file.write_text(file.read_text().replace("sys.exit(1)", "sys.exit(0)"))
    assert main(["replay"]) == 1
    assert f"exportdiff corpus close {pathlib.Path('corpora/open/a.py')}" in capsys.readouterr().out
    assert main(["corpus", "close", str(file)]) == 0
    assert not file.exists()
    assert read_entry(folder / "corpora" / "fixed" / "a.py").status == "fixed"
    assert main(["replay"]) == 0


def test_issue_prints_the_fields_of_pytorchs_form(
    folder: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["issue", "repro.py"]) == 0
    printed = capsys.readouterr()
    title, _, rest = printed.out.partition("\n")
    assert title.startswith("torch.export: nonstrict module differs from eager")
    fields = ["### 🐛 Describe the bug", "### Error logs", "### Versions"]
    assert [line for line in rest.splitlines() if line.startswith("###")] == fields
    assert "One and one is not two.\n\n```python\nimport sys" in rest
    assert "BUG: 1 + 1 is 3" in rest
    assert f"PyTorch version: {torch_version()}" in rest
    assert "# ///" not in rest
    assert "topic: fuzzer" in printed.err


def test_issue_refuses_a_file_that_shows_no_bug(
    folder: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "repro.py").write_text(REPRO.replace("sys.exit(1)", "sys.exit(0)"))
    assert main(["issue", "repro.py"]) == 2
    assert "does not show its bug here" in capsys.readouterr().err
    assert main(["issue", "gone.py"]) == 2
    assert "there is no such file" in capsys.readouterr().err


PROGRAM = """
import torch
from torch import nn

class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x, flag=True):
        "What it does."
        self.count.add_(1)  # once
        return x + self.count

def make():
    return Child(), (torch.ones(1),)
"""


def test_names_comments_and_layout_do_not_change_the_canonical_digest() -> None:
    renamed = PROGRAM
    for old, new in (
        ("Child", "M0"),
        ("count", "state"),
        ("flag", "f"),
        ("self, x", "self, y"),
        ("return x +", "return y +"),
        ("  # once", ""),
        ('"What it does."', ""),
    ):
        renamed = renamed.replace(old, new)
    assert canonical_digest(renamed) == canonical_digest(PROGRAM)


@pytest.mark.parametrize(("old", "new"), [("add_", "sub_"), ("ones(1)", "ones(2)"), ("x + self", "self")])
def test_a_change_of_behaviour_changes_the_canonical_digest(old: str, new: str) -> None:
    assert canonical_digest(PROGRAM.replace(old, new)) != canonical_digest(PROGRAM)


def test_code_lines_do_not_count_blank_lines_comments_and_docstrings() -> None:
    assert code_lines(PROGRAM) == 11

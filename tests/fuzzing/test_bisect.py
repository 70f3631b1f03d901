"""``exportdiff bisect``: which versions have a bug, and how a header says so."""

from __future__ import annotations

import pathlib

import pytest

from exportdiff.cli import main
from exportdiff.core.errors import UsageError
from exportdiff.fuzzing.other_torch import bisecting, environments
from exportdiff.fuzzing.other_torch import cache as kept
from exportdiff.fuzzing.other_torch.bisecting import History, Transition, VersionResult, age, histories
from exportdiff.fuzzing.other_torch.environments import READY, NotInstalledError, environment_of, wanted
from exportdiff.fuzzing.other_torch.messages import FileAnswer
from exportdiff.fuzzing.other_torch.probe import Interpreter, running_interpreter
from exportdiff.known.corpus.affected import with_versions
from exportdiff.known.corpus.entry import read_entry

FILE = """\
# /// script
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "a title"
# status = "open"
# affected = "2.13.0"
# fix = "a_fix"
# ///
'''An explanation.'''

import torch


def make():
    return torch.nn.ReLU(), (torch.ones(1),)


if __name__ == "__main__":
    print("what it says")
    raise SystemExit(CODE)
"""


def test_versions_are_sorted_by_age() -> None:
    expected = ["2.5.1", "2.9.1", "2.11.0", "2.15.0.dev20261101", "2.15.0.dev20261102", "2.15.0rc1", "2.15.0"]
    assert sorted(set(expected), key=age) == expected
    assert age("2.9.1+cpu") == age("2.9.1")


def history(**outcomes: str) -> History:
    return History(tuple(VersionResult(torch, outcome, "") for torch, outcome in outcomes.items()))  # type: ignore[arg-type]


def test_a_bug_appears_and_is_fixed() -> None:
    found = history(a="not there", b="another failure", c="there", d="there", e="not there")
    assert found.changes == (Transition("appeared", "a", "c"), Transition("fixed", "d", "e"))
    assert (found.affected, found.unaffected, found.undecided) == (("c", "d"), ("a", "e"), ("b",))
    assert found.regression_since == "c"


def test_a_bug_of_the_oldest_version_is_no_regression() -> None:
    assert history(a="there", b="there").regression_since == ""
    assert history(a="another failure", b="there").regression_since == ""


ENDS = {
    "raise SystemExit(1)": "there",
    "raise SystemExit(0)": "not there",
    "raise SystemExit(3)": "another failure",
    "raise KeyError('a')": "another failure",
}


def test_the_exit_code_says_whether_the_bug_is_there(tmp_path: pathlib.Path) -> None:
    files = [tmp_path / f"file{number}.py" for number in range(len(ENDS))]
    for file, ends in zip(files, ENDS, strict=True):
        file.write_text(FILE.replace("raise SystemExit(CODE)", ends))
    entries = [read_entry(file) for file in files]
    found = histories(entries, [running_interpreter()], seconds=60.0, workers=1, corpora=tmp_path)
    assert [found[entry].rows[0].outcome for entry in entries] == list(ENDS.values())
    assert {row.torch for each in found.values() for row in each.rows} == {running_interpreter().release}


def test_a_run_is_kept_by_torch_and_code_whatever_the_header_says(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "cache_folder", lambda: tmp_path)
    old, new = Interpreter(pathlib.Path("a"), "1.0"), Interpreter(pathlib.Path("b"), "1.1")
    text = FILE.replace("CODE", "1")
    kept.store_run(old, text, FileAnswer(1, "line"))
    edited = with_versions(text, ["1.0"], ["1.1"], "").replace("An explanation", "Another")
    assert kept.cached_run(old, edited) == FileAnswer(1, "line")
    assert kept.cached_run(new, text) is None
    assert kept.cached_run(old, text.replace("SystemExit(1)", "SystemExit(0)")) is None
    kept.store_run(new, text, FileAnswer(None, ""))
    assert kept.cached_run(new, text) is None


def test_kept_runs_are_not_run_again(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(bisecting, "OtherTorch", None)
    file = tmp_path / "file.py"
    file.write_text(FILE.replace("CODE", "1"))
    entry, old = read_entry(file), Interpreter(pathlib.Path("a"), "1.0")
    kept.store_run(old, file.read_text(), FileAnswer(1, "line"))
    found = histories([entry], [old], seconds=1.0, workers=1, corpora=tmp_path, use_cache=True)
    assert found[entry].affected == ("1.0",)


# --- headers ---


def test_lists_of_versions_in_a_header_are_replaced(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "file.py"
    file.write_text(with_versions(FILE, ["2.9.1", "2.13.0"], ["2.14.1"], "2.9.1", ["2.5.1"]))
    entry = read_entry(file)
    versions = (entry.affected, entry.unaffected, entry.undecided)
    assert versions == (("2.9.1", "2.13.0"), ("2.14.1",), ("2.5.1",))
    assert (entry.regression_since, entry.fix, entry.title) == ("2.9.1", "a_fix", "a title")
    again = with_versions(file.read_text(), ["2.14.1"], [], "")
    assert again == FILE.replace('affected = "2.13.0"', 'affected = ["2.14.1"]')


def test_lists_of_several_lines_are_replaced_as_a_whole() -> None:
    long = FILE.replace('# affected = "2.13.0"', '# affected = [\n#     "2.9.1",\n#     "2.13.0",\n# ]')
    assert with_versions(long, ["2.14.1"], [], "") == with_versions(FILE, ["2.14.1"], [], "")


def test_a_file_without_a_header_is_refused() -> None:
    with pytest.raises(ValueError, match="header"):
        with_versions("import torch\n", [], [], "")


# --- environments ---


def test_versions_are_read_from_text() -> None:
    assert wanted("2.9, 2.12.1") == ("2.9", "2.12.1")
    for text in ("", "new", "2.9;2.10"):
        with pytest.raises(UsageError, match="write versions of torch"):
            wanted(text)


def test_an_environment_is_created_once(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []
    said: list[str] = []

    def run(command: list[str]) -> None:
        ran.append(command)
        pathlib.Path(command[-1]).mkdir(parents=True, exist_ok=True) if "venv" in command else None

    monkeypatch.setattr(environments, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(environments, "_run", run)
    python = environment_of("2.9", said.append)
    assert environment_of("2.9", said.append) == python
    assert (python.parents[1] / READY).is_file()
    assert [command[-2:] for command in ran][1] == ["torch==2.9.*", "numpy"]
    assert len(ran) == 2 and len(said) == 1 and str(python.parents[1]) in said[0]


def test_what_cannot_be_installed_leaves_nothing_behind(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str]) -> None:
        if "venv" in command:
            pathlib.Path(command[-1]).mkdir(parents=True)
        else:
            raise NotInstalledError("no matching distribution")

    monkeypatch.setattr(environments, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(environments, "_run", run)
    with pytest.raises(NotInstalledError, match="no matching"):
        environment_of("9.9", lambda line: None)
    assert not list((tmp_path / "torch").iterdir())


def test_the_command_refuses_what_names_no_other_torch(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file.py"
    file.write_text(FILE.replace("CODE", "1"))
    assert main(["bisect", str(file)]) == 2
    assert main(["bisect", str(file), "--torch", str(tmp_path / "python")]) == 2
    assert main(["bisect", str(tmp_path / "none.py"), "--versions", "2.9"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3 and "--torch PYTHON" in lines[0] and "no such interpreter" in lines[1]

"""``exportdiff bisect``: which versions have a bug, and how a header says so."""

from __future__ import annotations

import pathlib

import pytest

from exportdiff.cli import bisect as cli_bisect
from exportdiff.cli import main
from exportdiff.core.errors import UsageError
from exportdiff.fuzzing.other_torch import bisecting, environments
from exportdiff.fuzzing.other_torch import cache as kept
from exportdiff.fuzzing.other_torch.bisecting import History, VersionResult, histories
from exportdiff.fuzzing.other_torch.environments import READY, NotInstalledError, environment_of, wanted
from exportdiff.fuzzing.other_torch.messages import FileAnswer
from exportdiff.fuzzing.other_torch.probe import Interpreter, running_interpreter
from exportdiff.interfaces.reports.versions_page import versions_page
from exportdiff.known.corpus.entry import Entry, read_entry
from exportdiff.known.corpus.versions import Shown, versions, with_versions

FILE = """\
# /// script
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "a title"
# status = "open"
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


ENDS = {
    "raise SystemExit(1)": "shows",
    "raise SystemExit(0)": "fixed",
    "raise SystemExit(3)": "other",
    "raise KeyError('a')": "other",
    "torch.a_name_of_another_version": "cannot run",
    "from torch.export import a_name_of_another_version": "cannot run",
    "torch.export.export(*make(), an_argument_of_another_version=1)": "cannot run",
    "torch.ops.aten.an_operator_of_another_version(1)": "cannot run",
    "torch.nn.ReLU().a_name": "other",
    "None + 1": "other",
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
    edited = with_versions(text, versions({"1.0": "shows", "1.1": "fixed"})).replace(
        "An explanation", "Another"
    )
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
    assert found[entry].versions.rows == (("1.0", "shows"),)


def test_a_bug_shows_if_it_does_with_one_of_its_hash_seeds(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(bisecting, "OtherTorch", None)
    old = Interpreter(pathlib.Path("a"), "1.0")
    entries = []
    for name, codes in {"never": (0, 0, 0), "once": (0, 1), "broken": (3, 0, 0)}.items():
        text = FILE.replace("CODE", f"'{name}'").replace("# fix", "# hash-seeds = 3\n# fix")
        for seed, code in enumerate(codes):
            kept.store_run(old, text, FileAnswer(code, ""), seed)
        file = tmp_path / f"{name}.py"
        file.write_text(text)
        entries.append(read_entry(file))
    found = histories(entries, [old], seconds=1.0, workers=1, corpora=tmp_path, use_cache=True)
    shown = {entry.name: found[entry].rows[0].outcome for entry in entries}
    assert shown == {"never": "fixed", "once": "shows", "broken": "other"}


def test_the_page_says_what_is_new_in_the_newest_version() -> None:
    tried: dict[str, dict[str, Shown]] = {
        "mended": {"1.0": "shows", "2.0": "fixed"},
        "back": {"0.9": "shows", "1.0": "fixed", "2.0": "shows"},
        "fresh": {"1.0": "fixed", "2.0": "shows"},
        "unclear": {"1.0": "shows", "2.0": "other"},
        "same": {"1.0": "shows", "2.0": "shows", "3.0": "fixed"},
        "away": {"0.9": "shows", "1.0": "fixed", "2.0": "fixed"},
    }
    found = {
        Entry(pathlib.Path(f"{name}.py"), title=f"title {name}"): versions(rows)
        for name, rows in tried.items()
    }
    ran = {
        entry: History((VersionResult("2.0", dict(each.rows)["2.0"], "KeyError"),))
        for entry, each in found.items()
    }
    assert versions_page(found, ran).splitlines() == [
        "## The corpus on torch 2.0",
        "",
        "### Broken: the file can no longer tell whether the bug is there (1)",
        "",
        "- `unclear`: KeyError (tried on 1.0: shows; on 2.0: fails in another way)",
        "",
        "### Shows again (1)",
        "",
        "- `back`: title back (tried on 0.9: shows; on 1.0: does not show; on 2.0: shows)",
        "",
        "### New: no earlier version that was tried has the bug (1)",
        "",
        "- `fresh`: title fresh (tried on 1.0: does not show; on 2.0: shows)",
        "",
        "### Fixed (1)",
        "",
        "- `mended`: title mended (tried on 1.0: shows; on 2.0: does not show)",
        "",
        "As before: 1 file with the bug, 1 without it.",
    ]


def test_the_command_adds_a_version_to_the_headers_and_says_what_is_new(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kept, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(bisecting, "OtherTorch", None)
    new = Interpreter(pathlib.Path("a"), "2.0+cpu")
    monkeypatch.setattr(cli_bisect, "_interpreters", lambda arguments: [new])
    corpora = tmp_path / "corpora"
    corpora.mkdir()
    files = {name: corpora / f"{name}.py" for name in ("mended", "there")}
    for code, (name, file) in enumerate(files.items()):
        file.write_text(with_versions(FILE.replace("CODE", f"'{name}'"), versions({"1.0": "shows"})))
        kept.store_run(new, file.read_text(), FileAnswer(code, "what it says"))
    page = tmp_path / "page.md"
    command = ["corpus", "bisect", "--torch", "a", "--corpora", str(corpora), "--summary", str(page)]
    assert main([*command, "--dry-run"]) == 0
    assert read_entry(files["there"]).versions.rows == (("1.0", "shows"),)
    assert main(command) == 0
    assert read_entry(files["mended"]).versions.rows == (("1.0", "shows"), ("2.0", "fixed"))
    assert read_entry(files["there"]).versions.rows == (("1.0", "shows"), ("2.0", "shows"))
    text = page.read_text()
    assert "### Fixed (1)\n\n- `mended`: a title" in text and "1 file with the bug, 0 without" in text
    assert capsys.readouterr().out == text * 2
    kept.store_run(new, files["there"].read_text(), FileAnswer(3, "KeyError"))
    assert main(command) == 1
    assert "### Broken" in page.read_text()


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

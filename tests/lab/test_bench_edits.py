"""``bench --only edits``: the patches, the torch that is made of links, and what a campaign on it says."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest

from exportdiff.core.torch_versions import digest_of_torch, torch_digest, torch_folder, torch_version
from exportdiff.lab.bench import edits
from exportdiff.lab.bench.context import Context
from exportdiff.lab.bench.edited_torch import RELEASE, edited_file, link_torch, read_edits
from exportdiff.lab.bench.edits import COMMENT, Tried, environment, measure, result_of, tried_of
from exportdiff.lab.bench.records_file import append_records, read_records
from exportdiff.lab.bench.scale import QUICK
from exportdiff.runtime.patching.fix import FixError, read_fix

needs_release = pytest.mark.skipif(torch_version() != RELEASE, reason=f"the edits are for torch {RELEASE}")
STEP = pathlib.PurePosixPath("export", "unflatten.py")
PLAIN = 'return base if n == 1 else f"{base}@{n - 1}"'
EDITED = 'return base if n == 1 else f"{base}@{n}"'


def context(folder: pathlib.Path | None = None, seconds: float = 600.0) -> Context:
    return Context(QUICK, 1, 7, None, seconds=seconds, programs=folder)


@needs_release
def test_each_edit_changes_one_line_of_one_file_which_stays_python() -> None:
    found = read_edits()
    assert len(found) == 20
    wrong = []
    for edit in found:
        path, text = edited_file(edit)
        pairs = zip((torch_folder() / path).read_text().split("\n"), text.split("\n"), strict=True)
        changed = sum(before != after for before, after in pairs)
        compile(text, str(path), "exec", dont_inherit=True)
        title, empty, seen = edit.message.split("\n")[:3]
        said = re.search(r"^Mistake: .+$", edit.message, re.MULTILINE)
        if changed != 1 or not title or empty or not seen or said is None:
            wrong.append(edit.name)
    assert wrong == []


def test_a_patch_that_does_not_fit_is_refused(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "other.patch"
    header = "t\n---\n--- a/torch/export/unflatten.py\n+++ b/torch/export/unflatten.py\n"
    file.write_text(f"{header}@@ -1 +1 @@\n-no such line\n+another\n")
    with pytest.raises(FixError, match="does not fit"):
        edited_file(read_fix(file))


def byte_code() -> dict[str, tuple[int, int]]:
    """Return the byte code of the release in the folders that are real ones in the edited torch."""
    folders = (torch_folder(), torch_folder() / "export")
    files = (file for folder in folders for file in (folder / "__pycache__").glob("*.pyc"))
    return {str(file): (file.stat().st_mtime_ns, file.stat().st_size) for file in files}


def test_the_edited_torch_runs_its_edit_and_leaves_the_release_alone(tmp_path: pathlib.Path) -> None:
    text = (torch_folder() / STEP).read_text(encoding="utf-8")
    assert text.count(PLAIN) == 1
    link_torch(tmp_path, STEP, text.replace(PLAIN, EDITED))
    before = byte_code()
    program = (
        "import torch, importlib, torch.nn.functional as f\n"
        "u = importlib.import_module('torch.export.unflatten')\n"
        "print(u._call_name('a', 2), u.__file__, f.relu(torch.ones(1)).item())\n"
    )
    # The edited file has no byte code yet, so this run writes it.
    writes = {**environment(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}
    ran = subprocess.run([sys.executable, "-c", program], env=writes, capture_output=True, text=True)
    assert ran.stdout.split() == ["a@2", str(tmp_path / "torch" / STEP), "1.0"], ran.stderr
    assert [*(tmp_path / "torch" / "export" / "__pycache__").glob("unflatten.*.pyc")]
    assert byte_code() == before
    assert digest_of_torch(tmp_path / "torch") != torch_digest()


def test_files_behind_linked_folders_count_as_content(tmp_path: pathlib.Path) -> None:
    text = (torch_folder() / STEP).read_text(encoding="utf-8")
    link_torch(tmp_path, STEP, text)
    assert digest_of_torch(tmp_path / "torch") == torch_digest()


def test_the_edited_torch_comes_before_what_is_on_the_path(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    folders = environment(tmp_path)["PYTHONPATH"].split(os.pathsep)
    assert (folders[0], folders[-1]) == (str(tmp_path), "/somewhere")


def regression(example: int, *signature: str) -> dict[str, object]:
    return {"first_example": example, "signature": list(signature), "path": "nonstrict:module@cpu"}


def test_the_first_program_that_shows_a_regression_is_named() -> None:
    summary = {"against": {"torch_regressions": [regression(40, "b"), regression(7, "a", "value")]}}
    tried = tried_of("an_edit", summary, 12.0, "1 of 305 fixes is left out")
    assert (tried.regressions, tried.first_example, tried.signature) == (2, 7, ("a", "value"))
    assert tried.said == "1 of 305 fixes is left out"
    none = tried_of("other", {"against": {"torch_regressions": []}}, 1.0, "")
    assert (none.regressions, none.first_example) == (0, None)


def test_the_figures_count_edits_and_not_the_comment() -> None:
    tried = [
        Tried(COMMENT),
        Tried("a", 2, 10, ("outputs", "value"), "p", 3.0),
        Tried("b", 1, 20, ("crash",), "p", 3.0),
        Tried("c"),
        Tried("d", error="killed"),
    ]
    result = result_of(tried, 20)
    assert [figure.value for figure in result.figures] == [2, 15, 0]
    assert result.figures[0].note == "4 of 20 edits were tried, 300 programs each; 1 campaigns failed"
    assert [row[1] for row in result.tables[0].rows] == ["no", "yes", "yes", "no", "failed"]
    assert result.exit_code == 0
    assert result_of([Tried(COMMENT, 1, 0, ("a",))], 20).exit_code == 2
    assert result_of([Tried(COMMENT, 1, 0, ("a",)), Tried("a")], 20).exit_code == 1


@needs_release
def test_a_later_run_tries_what_is_left_and_what_failed(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def campaign(name: str, *_: object) -> Tried:
        asked.append(name)
        if len(asked) == 4:
            raise KeyboardInterrupt
        return Tried(name, error="killed" if len(asked) == 3 else "")

    monkeypatch.setattr(edits, "try_torch", campaign)
    first = measure(context(tmp_path / "programs"))
    names = [edit.name for edit in read_edits()]
    assert first.interrupted and asked == [COMMENT, *names[:3]]
    second = measure(context(tmp_path / "programs"))
    assert asked[4:] == names[1:]
    assert len(second.data["edits"]) == 21 and not second.interrupted
    assert measure(context(tmp_path / "programs", seconds=0.0)).figures[0].note.startswith("20 of 20")
    assert measure(context(seconds=0.0)).exit_code == 2


def test_a_campaign_runs_with_the_edited_torch(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = (
        "import sys, torch, pathlib, json\n"
        "print('left out', file=sys.stderr)\n"
        "row = {'first_example': 3, 'signature': [torch.__path__[0]], 'path': ''}\n"
        "out = pathlib.Path(sys.argv[1]); out.mkdir()\n"
        "(out / 'summary.json').write_text(json.dumps({'against': {'torch_regressions': [row]}}))\n"
    )
    with monkeypatch.context() as patch:
        patch.setattr(edits, "_command", lambda _, out: [sys.executable, "-c", program, str(out)])
        tried = edits.try_torch("an_edit", STEP, (torch_folder() / STEP).read_text(), context())
        assert (tried.first_example, tried.said, tried.error) == (3, "left out", "")
        assert tried.signature != (str(torch_folder()),) and tried.signature[0].endswith("edited/torch")
        assert not pathlib.Path(tried.signature[0]).exists()
        patch.setattr(edits, "_command", lambda *_: [sys.executable, "-c", "raise SystemExit('why')"])
        assert edits.try_torch("an_edit", STEP, "", context()).error == "why"
    command = edits._command(context(), tmp_path)
    assert command[command.index("--against") + 1] == sys.executable
    assert command[command.index("--seed") + 1] == "7"


def test_a_line_that_was_cut_off_does_not_spoil_the_next_one(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "records.ndjson"
    append_records(file, [Tried("a")])
    with file.open("a") as out:
        out.write('{"data": "cut o')
    append_records(file, [Tried("b")])
    assert read_records(file) == [Tried("a"), Tried("b")]

"""The series of ``exportdiff upstream`` applies to torch; its tests fail without it and pass with it."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
import torch

from exportdiff.cli import main
from exportdiff.known.corpus.entry import FIXES
from exportdiff.known.upstream.patch_series import installed, patched
from exportdiff.known.upstream.verification import RESULTS, apply, link
from exportdiff.known.upstream.written import SECOND
from exportdiff.runtime.patching.fixes import read_fixes
from support.folders import ROOT
from support.of_this_torch import held, skip_unless_tried

SITE = pathlib.Path(torch.__file__).parents[1]


@pytest.mark.nightly
@pytest.mark.parametrize("count", [6])
def test_the_tests_of_the_series_need_it(
    count: int, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("expecttest", reason="PyTorch's TestCase needs it; it is in the extra 'test'")
    monkeypatch.chdir(ROOT)
    folder = tmp_path / "series"
    assert main(["upstream", str(folder), "--first", str(count), "--verify"]) == 0
    for mail in (folder / SECOND).glob("*.patch"):
        shutil.copy(mail, folder)  # their tests need them as well
    assert main(["upstream", str(folder), "--verify"]) == 0
    verified = json.loads((folder / RESULTS).read_text())
    assert verified and all(each["fails_without"] and each["passes_with"] for each in verified.values())


def test_a_folder_with_patches_is_not_written_to(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    (tmp_path / "0001-a.patch").touch()
    assert main(["upstream", str(tmp_path)]) == 2
    assert "holds patches already; name another folder" in capsys.readouterr().err
    assert main(["upstream", str(tmp_path / "new"), "--checkout", str(tmp_path)]) == 2
    assert "is no checkout of PyTorch: it has no folder torch" in capsys.readouterr().err


def test_the_first_root_causes_have_commits(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["upstream", str(tmp_path), "--first", "2", "--author", "A B <a@b.c>"]) == 0
    assert "2 tests of open bugs" in capsys.readouterr().out
    mails = sorted(tmp_path.rglob("*.patch"))
    assert len(mails) == 2
    for mail in mails:
        (tree := tmp_path / "tree" / mail.stem).mkdir(parents=True)
        assert apply(mail, tree, SITE)


def test_the_fixes_of_one_file_are_put_together() -> None:
    fixes = read_fixes(ROOT / "corpora" / FIXES)
    both = [fixes["guard_strings_as_literals"], fixes["guard_that_none_stays_none"]]
    path = "torch/export/_unlift.py"
    plain, one, two = (patched(installed(path), path, both[:n]) for n in range(3))
    assert plain == (SITE / path).read_text()
    added = set(one.splitlines()) - set(plain.splitlines())
    assert added and added <= set(two.splitlines())
    assert "elif meta is None:" in two and "elif meta is None:" not in one


def test_torch_can_be_imported_with_all_fixes_in_its_files(tmp_path: pathlib.Path) -> None:
    """As files: held in place, a fix may name what is defined below it, or never be compiled as a module."""
    skip_unless_tried()
    fixes = held()
    assert fixes
    paths = sorted({path for fix in fixes for path, _ in fix.files})
    for path in paths:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(patched(installed(path), path, [fix for fix in fixes if path in dict(fix.files)]))
    link(SITE / "torch", tmp_path / "torch", "torch", set(paths))
    names = [path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in paths]
    code = (
        f"import importlib, torch; [importlib.import_module(each) for each in {names}]; print(torch.__file__)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(tmp_path / "torch" / "__init__.py")

"""The series of ``exportdiff upstream`` applies to torch; its tests fail without it and pass with it."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import torch

from exportdiff.cli import main
from exportdiff.known.corpus.entry import FIXES
from exportdiff.known.upstream.patch_series import installed, patched
from exportdiff.runtime.patching.fixes import read_fixes
from support.folders import ROOT
from support.of_this_torch import held, skip_unless_tried

SITE = pathlib.Path(torch.__file__).parents[1]
RUN = """\
import importlib.util, pathlib, sys, unittest
suite = unittest.TestSuite()
for file in sorted(pathlib.Path("test").rglob("test_*.py")):
    spec = importlib.util.spec_from_file_location(file.stem, file)
    sys.modules[file.stem] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    suite.addTests(unittest.defaultTestLoader.loadTestsFromModule(module))
result = unittest.TextTestRunner().run(suite)
print("ran", result.testsRun, "failed", len(result.failures) + len(result.errors))
"""


@pytest.mark.nightly
@pytest.mark.parametrize("count", [6])
def test_the_tests_of_the_series_need_it(
    count: int, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("expecttest", reason="PyTorch's TestCase needs it; it is in the extra 'test'")
    monkeypatch.chdir(ROOT)
    assert main(["upstream", str(tmp_path / "series"), "--first", str(count)]) == 0
    mails = sorted((tmp_path / "series").rglob("*.patch"))
    assert mails
    for mail in mails:
        tree = tmp_path / mail.stem
        touched = apply(mail, tree)
        (tree / "run_tests.py").write_text(RUN)
        # Without: the tests of the tree, and the installed torch.
        assert run(tree, []) == "ran 1 failed 1", mail
        link(SITE / "torch", tree / "torch", "torch", touched)
        assert run(tree, [str(tree)]) == "ran 1 failed 0", mail


def apply(mail: pathlib.Path, tree: pathlib.Path) -> set[str]:
    """Apply a patch to the files of torch that it changes, in a new repository; return these."""
    touched = set(re.findall(r"^--- a/(\S+)$", mail.read_text(), re.MULTILINE))
    for path in touched:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SITE / path, tree / path)
    git(tree, "init", "-q")
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "the release")
    git(tree, "am", str(mail))
    return touched


def test_a_folder_with_patches_is_not_written_to(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    (tmp_path / "0001-a.patch").touch()
    assert main(["upstream", str(tmp_path)]) == 2
    assert "holds patches already" in capsys.readouterr().err
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
        apply(mail, tmp_path / "tree" / mail.stem)


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


def git(folder: pathlib.Path, *words: str) -> str:
    author = ["-c", "user.name=C", "-c", "user.email=c@d.e"]
    done = subprocess.run(
        ["git", *author, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run(folder: pathlib.Path, first: list[str]) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*first, *sys.path])}
    done = subprocess.run(
        [sys.executable, "-P", "run_tests.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=900,
        env=environment,
        check=False,
    )
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr


def link(source: pathlib.Path, target: pathlib.Path, name: str, touched: set[str]) -> None:
    """Make links to everything of the installed torch that the series leaves alone."""
    target.mkdir(exist_ok=True)
    for each in source.iterdir():
        path = f"{name}/{each.name}"
        if any(other.startswith(f"{path}/") for other in touched):
            link(each, target / each.name, path, touched)
        elif each.name == "__pycache__":
            link_bytecode(each, target / each.name, name, touched)
        elif path not in touched:
            (target / each.name).symlink_to(each)


def link_bytecode(source: pathlib.Path, target: pathlib.Path, name: str, touched: set[str]) -> None:
    """Make links to the bytecode of what the series leaves alone: to compile torch anew takes long."""
    target.mkdir()
    for each in source.iterdir():
        if f"{name}/{each.name.partition('.')[0]}.py" not in touched:
            (target / each.name).symlink_to(each)

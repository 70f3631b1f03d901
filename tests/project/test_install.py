"""Installed from a wheel, an sdist or a checkout, exportdiff disturbs no folders of a user's project."""

from __future__ import annotations

import json
import os
import pathlib
import site
import subprocess
import sys
import venv
import zipfile

import pytest

from support.folders import ROOT

pytest.importorskip("hatchling", reason="pip install 'exportdiff[test]'")
pytest.importorskip("editables", reason="pip install 'exportdiff[test]'")

PROJECT = {
    "harness/__init__.py": "OWNER = 'the project'\n",
    "strategies/__init__.py": "OWNER = 'the project'\n",
    "corpora/__init__.py": "OWNER = 'the project'\n",
    "tests/__init__.py": "",
    "tests/test_model.py": """\
import pytest
import torch

import corpora
import harness
import strategies
from harness.model import make


def test_the_folders_are_those_of_the_project():
    assert corpora.OWNER == harness.OWNER == strategies.OWNER == "the project"


@pytest.mark.export_paths("nonstrict:unflatten")
def test_model(export_equivalence):
    export_equivalence(make)
""",
    "harness/model.py": """\
import torch
from torch import nn


class Step(nn.Module):
    def forward(self, x, double):
        return x * 2 if double else x + 1


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = Step()

    def forward(self, x):
        return self.step(self.step(x, True), False)


def make():
    return Model(), (torch.ones(3),)
""",
}


WHERE = """\
import exportdiff, exportdiff_strategies
from exportdiff.known.corpus.entry import default_corpora
print(exportdiff.__file__, exportdiff_strategies.__file__, default_corpora(), sep="\\n")
"""
"""Prints where the packages and the corpus are; the project has a folder ``corpora`` as well."""


def run(*command: str | pathlib.Path, cwd: pathlib.Path, code: int = 0) -> str:
    """Run a command that does not see the modules of this test run; return what it prints."""
    hidden = ("PYTHONPATH", "PYTEST_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pathlib.Path]:
    """Return what each kind of installation is made from."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-d", folder, "-t", "sdist", "-t", "wheel", cwd=ROOT)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return {"wheel": wheel, "sdist": sdist, "editable": ROOT}


def environment(folder: pathlib.Path) -> pathlib.Path:
    """Create an environment with the packages of the running one, but for exportdiff; return its Python.

    It finds them through a path file. The path files next to them, which would add this checkout, are not
    read.
    """
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    here = [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
    (packages / "running.pth").write_text("\n".join(here))
    return folder / "bin" / "python"


def test_the_wheel_has_two_packages_and_the_corpus_is_in_the_first(builds: dict[str, pathlib.Path]) -> None:
    files = zipfile.ZipFile(builds["wheel"]).namelist()
    top = {file.partition("/")[0] for file in files}
    assert {each for each in top if not each.endswith(".dist-info")} == {
        "exportdiff",
        "exportdiff_strategies",
    }
    for folder in ("open", "fixes", "variants"):
        packed = {file.rpartition("/")[2] for file in files if f"exportdiff/corpora/{folder}/" in file}
        there = (ROOT / "corpora" / folder).iterdir()
        assert packed == {file.name for file in there if file.suffix in (".py", ".patch", ".json")}


def installed(build: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """Install exportdiff into an environment of its own; return its Python."""
    python = environment(folder)
    pip: list[str | pathlib.Path] = [sys.executable, "-m", "pip", "--quiet", "--python", python, "install"]
    pip += ["--no-deps", "--no-build-isolation", "--no-compile"]
    run(*pip, *(["--editable"] if build.is_dir() else []), build, cwd=folder)
    return python


def project_in(folder: pathlib.Path) -> pathlib.Path:
    for name, text in PROJECT.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("kind", ["wheel", "sdist", "editable"])
def test_exportdiff_finds_itself_and_its_corpus(
    kind: str, builds: dict[str, pathlib.Path], tmp_path: pathlib.Path
) -> None:
    python = installed(builds[kind], tmp_path / "venv")
    project = project_in(tmp_path / "project")
    assert run(python, "-m", "exportdiff", "--version", cwd=project).startswith("exportdiff ")
    *package, corpus = map(pathlib.Path, run(python, "-c", WHERE, cwd=project).splitlines())
    own = ROOT if kind == "editable" else tmp_path / "venv"
    assert all(own in each.parents for each in package)
    assert corpus == (ROOT / "corpora" if kind == "editable" else package[0].parent / "corpora")


@pytest.mark.parametrize(
    "kind",
    [
        "sdist",
        pytest.param("wheel", marks=pytest.mark.nightly),
        pytest.param("editable", marks=pytest.mark.nightly),
    ],
)
def test_a_project_with_folders_of_the_same_names(
    kind: str, builds: dict[str, pathlib.Path], tmp_path: pathlib.Path
) -> None:
    """A wheel is also what is built from the sdist; these tests run from a checkout."""
    python = installed(builds[kind], tmp_path / "venv")
    project = project_in(tmp_path / "project")
    run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=project)
    check = ["check", "harness/model.py:make", "--paths", "nonstrict:unflatten", "--json"]
    report = json.loads(run(python.with_name("exportdiff"), *check, cwd=project))
    assert {path["status"] for path in report["paths"].values()} == {"ok"}

"""The same models give the same findings and the same verdict at each of the four doors."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import find
from hypothesis import strategies as st

import exportdiff
from exportdiff.cli import main

pytest_plugins = ["pytester"]

PATHS = "nonstrict:*"
HEAD = "import torch\nfrom torch import nn\n\n\n"

FINE = f"""{HEAD}class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        return torch.relu(self.linear(x))


def make():
    return Model(), (torch.ones(1, 2),)
"""

PR_137013 = f"""{HEAD}class N(nn.Module):
    def forward(self, x, b):
        if b:
            return x + 1
        return x + 2


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = N()

    def forward(self, x):
        x = self.n(x + 3, True)
        x = self.n(x + 4, False)
        return x + 5


def make():
    return M(), (torch.ones(1),)
"""

REFUSED = f"""{HEAD}class Model(nn.Module):
    def forward(self, x):
        return x + 1 if x.sum().item() > 0 else x - 1


def make():
    return Model(), (torch.ones(2),)
"""

RAISES = f"""{HEAD}class Model(nn.Module):
    def forward(self, x):
        raise ValueError("no")


def make():
    return Model(), (torch.ones(2),)
"""

DYNAMIC = f"""{HEAD}class Model(nn.Module):
    def forward(self, x):
        size = 2 if torch.compiler.is_exporting() else x.shape[0]
        return x * size


def make():
    return Model(), (torch.ones(2),)


def dynamic_shapes():
    return {{"x": {{0: torch.export.Dim("n")}}}}


def probes():
    return [((torch.ones(5),), {{}})]
"""

MODELS = {"fine": FINE, "pr_137013": PR_137013, "refused": REFUSED, "raises": RAISES, "dynamic": DYNAMIC}
VERDICTS = {"fine": 0, "pr_137013": 0, "refused": 2, "raises": 2, "dynamic": 1}
"""As exit codes: 0 judged, and nothing fails; 1 a finding fails; 2 not judged."""


@dataclass(frozen=True)
class Answer:
    """What a door says of a model."""

    verdict: int
    findings: frozenset[tuple[str, str, tuple[str, ...], frozenset[str]]]
    """Check, kind, signature, paths."""
    statuses: tuple[tuple[str, str], ...]
    """Path and status."""


def answer(verdict: int, document: dict[str, Any]) -> Answer:
    """Read what ``Report.as_dict`` and ``check --json`` give."""
    findings = {
        (each["check"], each["kind"], tuple(each["signature"]), frozenset(each["shown_on"]))
        for each in document["findings"]
    }
    statuses = tuple(sorted((path, each["status"]) for path, each in document["paths"].items()))
    return Answer(verdict, frozenset(findings), statuses)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pathlib.Path]:
    folder = tmp_path_factory.mktemp("models")
    written = {name: folder / f"door_{name}.py" for name in MODELS}
    for name, file in written.items():
        file.write_text(MODELS[name])
    return written


def by_python(file: pathlib.Path) -> Answer:
    sys.path.insert(0, str(file.parent))
    try:
        module = __import__(file.stem)
    finally:
        sys.path.remove(str(file.parent))
    report = exportdiff.compare(
        module.make,
        dynamic_shapes=getattr(module, "dynamic_shapes", None),
        probes=getattr(module, "probes", None),
        paths=PATHS,
        device="cpu",
    )
    return answer(report.exit_code(), report.as_dict())


def by_hypothesis(source: str) -> Answer:
    drawn = find(st.just(exportdiff.strategies.DrawnModel(source)), lambda each: True)
    report = exportdiff.compare(
        drawn.build,
        dynamic_shapes=drawn.dynamic_shapes,
        probes=drawn.probes,
        paths=PATHS,
        device="cpu",
    )
    return answer(report.exit_code(), report.as_dict())


def by_command(file: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> Answer:
    code = main(["check", f"{file}:make", "--paths", PATHS, "--device", "cpu", "--json"])
    return answer(code, json.loads(capsys.readouterr().out))


TESTS = """\
import importlib

import pytest


@pytest.mark.parametrize("name", {names!r})
def test_model(export_equivalence, name):
    module = importlib.import_module("door_" + name)
    shapes, probes = getattr(module, "dynamic_shapes", None), getattr(module, "probes", None)
    export_equivalence(module.make, dynamic_shapes=shapes, probes=probes)
"""

CONFTEST = """\
import json
import pathlib

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "call":
        error = call.excinfo.value if call.excinfo else None
        told = {"outcome": report.outcome, "report": error.report.as_dict() if error else None}
        pathlib.Path(item.callspec.params["name"] + ".json").write_text(json.dumps(told))
    return report
"""


@pytest.fixture(scope="module")
def by_pytest(
    files: dict[str, pathlib.Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """What the fixture says: the outcome of each test, and the report that a failed one carries."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "test_models.py").write_text(TESTS.format(names=list(MODELS)))
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "corpora" / "fixes").mkdir(parents=True)  # as the fixture no_known_bugs does
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(files["fine"].parent), *sys.path]),
        # By name, and not by the entry point: whether exportdiff is installed makes no difference.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    environment.pop("PYTEST_ADDOPTS", None)
    options = ["--export-paths", PATHS, "--export-device", "cpu", "--export-minimize", "0"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "exportdiff.interfaces.pytest_plugin", *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1, run.stdout + run.stderr
    return {name: json.loads((folder / f"{name}.json").read_text()) for name in MODELS}


@pytest.mark.usefixtures("no_known_bugs")
@pytest.mark.parametrize("name", MODELS)
def test_the_doors_agree(
    name: str,
    files: dict[str, pathlib.Path],
    by_pytest: dict[str, dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    expected = by_python(files[name])
    assert expected.verdict == VERDICTS[name]
    assert bool(expected.findings) == (expected.verdict == 1)
    assert by_command(files[name], capsys) == expected
    assert by_hypothesis(MODELS[name]) == expected
    told = by_pytest[name]
    assert (told["outcome"] == "passed") == (expected.verdict == 0)
    if told["report"] is not None:
        verdict = 1 if told["report"]["judged"] else 2
        assert answer(verdict, told["report"]) == expected

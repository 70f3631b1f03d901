"""The pytest plugin, in sessions of its own: as a project sees it that has exportdiff installed."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET

import pytest

from support.folders import ROOT

pytest_plugins = ["pytester"]


FIVE = """\
import pytest
import torch
from torch import nn


class Differs(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        unused = self.linear(x)
        return x + 2 if torch.compiler.is_exporting() else x + 1


def make():
    return Differs(), (torch.ones(2),)


def test_fine(export_equivalence):
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    export_equivalence(model, (torch.ones(1, 2),))


def test_live(export_equivalence):
    export_equivalence(Differs(), (torch.ones(2),))


@pytest.mark.parametrize("number", [1, 2])
def test_factory(export_equivalence, number):
    export_equivalence(make, fail_on="silent")


@pytest.mark.export_paths("nonstrict:nothing")
def test_marked(export_equivalence):
    export_equivalence(nn.ReLU(), (torch.ones(2),))


@pytest.mark.export_paths("nonstrict:nothing")
def test_the_call_wins(export_equivalence):
    export_equivalence(nn.ReLU(), (torch.ones(2),), paths="nonstrict:module")


@pytest.mark.export_paths()
def test_empty_marker(export_equivalence):
    export_equivalence(nn.ReLU(), (torch.ones(2),))


@pytest.mark.xfail(strict=True)
def test_expected(export_equivalence):
    export_equivalence(make)
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project in an environment where exportdiff is installed: its entry point is the one of pyproject."""
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    info = pytester.mkdir("installed") / "exportdiff-0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: exportdiff\nVersion: 0.0\n")
    listed = "".join(f"{name} = {target}\n" for name, target in points.items())
    (info / "entry_points.txt").write_text(f"[pytest11]\n{listed}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(info.parent), *sys.path]))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    return pytester


# --- a project that does not use it ---


def test_loading_it_imports_nothing_slow(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import sys

        import pytest

        @pytest.mark.export_paths("nonstrict:*")
        def test_loaded(pytestconfig):
            plugin = pytestconfig.pluginmanager.get_plugin("exportdiff")
            assert plugin.__name__ == "exportdiff.interfaces.pytest_plugin"
            slow = {"torch", "numpy", "hypothesis", "exportdiff_strategies", "libcst", "rich"}
            assert not slow & set(sys.modules)
            ours = {name for name in sys.modules if name.partition(".")[0].startswith("exportdiff")}
            core = ("core", "core.durations", "core.errors")
            modules = (*core, "interfaces", "interfaces.pytest_judge", "interfaces.pytest_plugin")
            assert ours == {"exportdiff", *(f"exportdiff.{name}" for name in modules)}
        """
    )
    result = project.runpytest_subprocess("--strict-markers", "-p", "no:xdist")
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--export-paths", "nonsense:*"], "--export-paths "),
        (["--export-device", "tpu"], "--export-device tpu: torch finds no such device"),
        (["--export-accept", "gone.json"], "write one with --write-baseline"),
        (["--export-fail-on", "some"], "--export-fail-on: 'some' is none of any, new, silent"),
        (
            ["--export-judge", "--export-judge-limit", "0"],
            "--export-judge-limit: '0' is not a number of seconds",
        ),
        (["--export-judge-json", "out.json"], "--export-judge-json needs --export-judge"),
        (["--export-minimize", "soon"], "--export-minimize: 'soon' is not a duration; write 90s, 10m or 1h"),
    ],
)
def test_a_wrong_option_is_one_line(project: pytest.Pytester, options: list[str], said: str) -> None:
    result = project.runpytest_subprocess("-p", "no:xdist", *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    errors = [line for line in result.errlines if line.strip()]
    assert len(errors) == 1 and errors[0].startswith("ERROR: --export-") and said in errors[0], errors


# --- a project that uses it ---


@pytest.mark.nightly
def test_on_two_workers(project: pytest.Pytester) -> None:
    project.makepyfile(test_five=FIVE)
    report = project.path / "report.xml"
    options = [
        "-n2",
        "--export-paths",
        "nonstrict:module",
        "--export-minimize",
        "20s",
        f"--junitxml={report}",
    ]
    result = project.runpytest_subprocess(*options, "--show-capture=no")
    result.assert_outcomes(passed=2, failed=4, errors=1, xfailed=1)
    result.stdout.fnmatch_lines_random(
        [
            "*outputs mismatch on nonstrict:module@cpu*",
            "*no repro file: the model was given as an object: give a function*",
            "*paths *nonstrict:nothing*",
            "*@pytest.mark.export_paths takes patterns, such as 'nonstrict:*'",
        ]
    )
    one, two = sorted((project.path / "exportdiff-repros").iterdir())
    assert one.name != two.name and all("test_factory" in file.name for file in (one, two))
    for file in (one, two):
        text = file.read_text()
        assert text.startswith("# /// script") and "Linear" not in text and "pytest" not in text, text
        result.stdout.fnmatch_lines([f"repro file of outputs mismatch on *: exportdiff-repros/{file.name}*"])
    failures = [each.text or "" for each in ET.parse(report).iter("failure")]
    assert sum(one.name in text or two.name in text for text in failures) == 2
    run = subprocess.run([sys.executable, one], capture_output=True, text=True, check=False)
    assert run.returncode == 1, run.stdout + run.stderr


@pytest.mark.nightly
def test_a_baseline_and_no_minimizing(project: pytest.Pytester) -> None:
    project.makepyfile(test_five=FIVE)
    options = ["-p", "no:xdist", "--export-paths", "nonstrict:module", "--export-minimize", "0"]
    plain = project.runpytest_subprocess(*options, "-k", "live or factory", "--export-fail-on", "new")
    plain.assert_outcomes(failed=3)
    plain.stdout.no_fnmatch_line("*torch.__trace*")
    plain.stdout.fnmatch_lines(
        ["no repro file (--export-minimize 0); to write one: exportdiff minimize test_five.py:make --path *"]
    )
    assert not (project.path / "exportdiff-repros").exists()
    check = ["exportdiff", "check", "test_five.py:make", "--paths", "nonstrict:module"]
    project.run(sys.executable, "-m", *check, "--write-baseline", "accepted.json")
    accepted = project.runpytest_subprocess(
        *options, "-k", "live or factory", "--export-accept", "accepted.json"
    )
    accepted.assert_outcomes(passed=3)

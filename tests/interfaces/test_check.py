"""``exportdiff check``: the verdict on a user's own model, and its exit codes."""

from __future__ import annotations

import json
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

import exportdiff
from exportdiff.cli import main
from exportdiff.core.finding import Evidence
from exportdiff.interfaces.checking.found import Found
from exportdiff.interfaces.checking.in_subprocess import judge_in_subprocess
from exportdiff.interfaces.checking.report import Report
from exportdiff.judging.checks.compare.deviating import Altered
from exportdiff.judging.checks.purity import ModuleChanged, Printed, ProcessChanged, ProcessLeftDifferent
from exportdiff.judging.checks.sharing import CopyShares
from exportdiff.known.attribution.explained import KnownCause
from exportdiff.runtime.paths import select_paths
from support.evidence_of import make_finding
from support.folders import ROOT
from support.schemas import validator

pytestmark = pytest.mark.usefixtures("no_known_bugs")

MODELS = """\
import os

import torch
from torch import nn


class Good(nn.Module):
    def forward(self, x):
        return x + 1


class Raises(nn.Module):
    def forward(self, x):
        raise ValueError("no")


class Dies(nn.Module):
    def forward(self, x):
        if torch.compiler.is_exporting():
            os.abort()
        return x


class Differs(nn.Module):
    def forward(self, x):
        return x + 2 if torch.compiler.is_exporting() else x + 1


def good():
    print("the model may print")
    return Good(), (torch.ones(2),)


def with_kwargs():
    return Good(), (), {"x": torch.ones(2)}


def raises():
    return Raises(), (torch.ones(2),)


def dies():
    return Dies(), (torch.ones(2),)


def differs():
    return Differs(), (torch.ones(2),)


def broken():
    raise KeyError("oh")


def alone():
    return Good()


number = 3
"""


@pytest.fixture
def models(tmp_path: pathlib.Path) -> pathlib.Path:
    file = tmp_path / "models.py"
    file.write_text(MODELS)
    return file


def test_no_difference_is_0(models: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    globs = ["nonstrict*", "strict:*", "compile:compiled", "pipeline:*"]
    # No program can be copied after unflatten: a known bug.
    paths = [str(path) for path in select_paths(globs) if "unflatten_first+deepcopy" not in str(path)]
    assert main(["check", f"{models}:good", "--paths", *paths]) == 0
    assert "93 of 94 paths agree with eager, 1 refused; nothing fails" in capsys.readouterr().out


def test_a_module_can_be_named_and_return_kwargs(
    models: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(models.parent)
    assert main(["check", "models:with_kwargs", "--paths", "nonstrict:module"]) == 0


def test_relative_names_are_those_of_the_current_folder(
    models: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import torch

    text = MODELS.replace("return Good(), (torch.ones(2),)", "return Good(), (torch.load('weights.pt'),)")
    below = models.parent / "below"
    below.mkdir()
    torch.save(torch.ones(2), below / "weights.pt")
    models.write_text(text)
    monkeypatch.chdir(below)
    assert main(["check", "../models.py:good", "--paths", "nonstrict:module"]) == 0
    assert [file.name for file in below.iterdir()] == ["weights.pt"]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_model_that_takes_too_much_memory_is_not_judged(
    models: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with models.open("a") as file:
        file.write("\n\ndef large():\n    return Good(), (torch.ones(2**30),)\n")
    command = ["check", f"{models}:large", "--paths", "nonstrict:module", "--memory", "900M"]
    assert main(command) == 2
    assert "kills its process in eager already (more than 900 MiB of memory)" in capsys.readouterr().err


def test_a_model_whose_backward_pass_kills_its_process_is_not_judged(
    models: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with models.open("a") as file:
        file.write(DEADLY)
    assert main(["check", f"{models}:deadly", "--paths", "nonstrict:module"]) == 2
    assert "kills its process in eager already (SIGABRT)" in capsys.readouterr().err


DEADLY = """

class Ends(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        import os

        os.abort()


class Deadly(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        return Ends.apply(self.weight * x)


def deadly():
    return Deadly(), (torch.ones(2),)
"""


def test_a_difference_is_1_and_json_holds_it(
    models: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["check", f"{models}:differs", "--paths", "nonstrict:module"]
    assert main([*command, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    validator("check-1").validate(document)
    (finding,) = document["findings"]
    assert (finding["check"], finding["kind"]) == ("outputs", "mismatch")
    assert document["paths"]["nonstrict:module@cpu"]["status"] == "finding"
    assert main(command) == 1
    assert "outputs mismatch on nonstrict:module@cpu" in capsys.readouterr().out


SPECIALISES = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        size = 2 if torch.compiler.is_exporting() else x.shape[0]
        return x * size

def make():
    return Model(), (torch.ones(2),)

def dynamic_shapes():
    return {"x": {0: torch.export.Dim("n")}}

def probes():
    return [((torch.ones(5),), {})]
"""


def test_dynamic_shapes_and_probes_of_the_module_are_used(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "model.py"
    file.write_text(SPECIALISES)
    command = ["check", f"{file}:make", "--paths", "nonstrict:module", "--json"]
    assert main(command) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["call"] == 3 and finding["signature"][-1] == "probe"
    file.write_text(SPECIALISES.replace("def probes", "def other"))
    assert main(command) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["signature"][2:] == ["accepted", "size"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("return 3", "probes returned int"),
        ("raise OSError('disk')", "raised OSError: disk (line 16)"),
        ("return [((), {'x': torch.ones(5)})]", "probe 0 has another structure than the example"),
    ],
)
def test_mistakes_in_probes_are_2_and_one_line(
    text: str, said: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "model.py"
    file.write_text(SPECIALISES.replace("return [((torch.ones(5),), {})]", text))
    assert main(["check", f"{file}:make"]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_a_path_that_dies_is_a_finding(models: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"{models}:dies", "--paths", "nonstrict:*", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    validator("check-1").validate(document)
    (finding,) = document["findings"]
    assert (finding["kind"], finding["also"]) == ("abort", ["nonstrict:unflatten@cpu"])


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("nonsense", "write FILE.py:NAME"),
        ("gone.py:make", "no such file"),
        ("no.such.module:make", "ModuleNotFoundError"),
        ("{}:nothing", "defines no 'nothing'"),
        ("{}:number", "is a int"),
        ("{}:broken", "KeyError: 'oh' (line"),
        ("{}:alone", "expected (model, args)"),
        ("{}:raises", "eager raised ValueError in call 0: no"),
    ],
)
def test_mistakes_are_2_and_one_line(
    target: str, said: str, models: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", target.format(models)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f(:\n", "SyntaxError: invalid syntax (line 1)"),
        ("x = 1\nraise OSError('disk')\n", "OSError: disk (line 2)"),
        ("import os\nos.abort()\n", "SIGABRT"),
        ("import sys\nsys.exit(0)\n", "SystemExit"),
    ],
)
def test_files_that_do_not_import_are_2(
    text: str, said: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.py"
    file.write_text(f"{text}\n\ndef make(): ...\n")
    assert main(["check", f"{file}:make", "--paths", "nonstrict:module"]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


TWO_BUGS = """
import torch

class Inner(torch.nn.Module):
    def forward(self, x):
        return x.sum() if x.dim() else x * 10

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.outer = torch.nn.Sequential(Inner())

    def forward(self, x):
        return self.outer(self.outer(x))

def make():
    return Model(), (torch.ones(2),)
"""
"""Unflattened, torch 2.13 gives another value: the corpus knows the bug."""


@pytest.fixture
def wrong(tmp_path: pathlib.Path) -> str:
    file = tmp_path / "wrong.py"
    file.write_text(TWO_BUGS)
    return f"{file}:make"


def test_what_fails_can_be_chosen(
    wrong: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)  # where the corpus is
    judged: list[Report] = []

    def once(*subject: Any, **options: Any) -> Report:
        """Judge the model the first time; the other times, return the same report."""
        if not judged:
            judged.append(judge_in_subprocess(*subject, **options))
        return judged[0]

    monkeypatch.setattr("exportdiff.interfaces.checking.in_subprocess.judge_in_subprocess", once)
    command = ["check", wrong, "--paths", "nonstrict:unflatten"]
    assert main(command) == 1
    text = capsys.readouterr().out
    assert "wrong, without an error" in text and "unflatten_merges_calls_of_other_variants" in text
    assert main([*command, "--fail-on", "silent"]) == 1
    assert main([*command, "--fail-on", "new"]) == 0


def test_a_baseline_accepts_what_it_names_and_nothing_else(
    wrong: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    baseline = tmp_path / "accepted.json"
    command = ["check", wrong, "--paths", "nonstrict:unflatten"]
    assert main([*command, "--write-baseline", str(baseline)]) == 0
    document = json.loads(baseline.read_text())
    validator("baseline-2").validate(document)
    (entry,) = document["accepted"]
    assert (entry["check"], entry["paths"]) == ("outputs", ["nonstrict:unflatten"])
    assert main([*command, "--accept", str(baseline)]) == 0
    assert "findings that the baseline accepts: 1" in capsys.readouterr().out
    more = [*command, "strict:unflatten", "--accept", str(baseline), "--json"]
    assert main(more) == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [(each["accepted"], each["shown_on"]) for each in findings] == [
        (True, ["nonstrict:unflatten@cpu"]),
        (False, ["strict:unflatten@cpu"]),
    ]


def test_what_a_baseline_accepts_in_vain_is_named(
    wrong: str, models: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    baseline = tmp_path / "accepted.json"
    command = ["check", wrong, "--paths", "nonstrict:unflatten"]
    assert main([*command, "--write-baseline", str(baseline)]) == 0
    baseline.write_text(baseline.read_text().replace('"mismatch"', '"crash"'))
    capsys.readouterr()
    assert main([*command, "--accept", str(baseline)]) == 1
    assert "no longer found, delete it: outputs crash" in capsys.readouterr().err
    other = ["check", f"{models}:good", "--paths", "nonstrict:unflatten", "--accept", str(baseline)]
    assert main(other) == 0
    assert "no longer found" not in capsys.readouterr().err


def test_junit_names_failures_and_what_torch_refuses(wrong: str, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "report.xml"
    command = ["check", wrong, "--paths", "nonstrict:unflatten", "nonstrict:module", "--junit", str(file)]
    assert main(command) == 1
    (suite,) = ElementTree.parse(file).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    failed = [case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None]
    assert failed == ["nonstrict:unflatten@cpu"]


MASK = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.full((3, 3), -torch.inf).triu(1))

    def forward(self, x):
        return torch.softmax(x + self.mask, -1), x + self.mask

def make():
    return Model(), (torch.ones(3, 3),)

dynamic_shapes = None
"""


def test_a_causal_mask_of_infinities_is_judged(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "mask.py"
    file.write_text(MASK)
    assert main(["check", f"{file}:make", "--paths", "nonstrict:*"]) == 0


PROBABILITIES = """
import torch

def make():
    return torch.nn.BCELoss(), (torch.rand(3), torch.ones(3))
"""


def test_a_model_that_accepts_only_some_values_is_judged(tmp_path: pathlib.Path) -> None:
    """Further calls have inputs with other values, which are no probabilities here."""
    file = tmp_path / "loss.py"
    file.write_text(PROBABILITIES)
    assert main(["check", f"{file}:make", "--paths", "nonstrict:*"]) == 0


def test_dynamic_shapes_and_probes_may_be_values(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "model.py"
    text = SPECIALISES.replace("def dynamic_shapes():\n    return ", "dynamic_shapes = ")
    file.write_text(text.replace("def probes():\n    return ", "probes = "))
    assert main(["check", f"{file}:make", "--paths", "nonstrict:module", "--json"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["signature"][-1] == "probe"


def test_a_mistake_in_the_name_needs_no_torch(models: pathlib.Path) -> None:
    code = (
        "import sys; from exportdiff.cli import main; "
        f"code = main(['check', '{models}:goud']); print(code, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["2", "False"]
    assert "defines no 'goud'; did you mean good?" in done.stderr


def test_a_wrong_path_needs_no_torch(models: pathlib.Path) -> None:
    code = (
        "import sys; from exportdiff.cli import main; "
        f"code = main(['check', '{models}:good', '--paths', 'x:*']); print(code, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["2", "False"]
    assert "'x:*' matches no listed path" in done.stderr


def test_an_error_of_exportdiff_is_3(
    models: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*args: object, **options: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("exportdiff.interfaces.checking.in_subprocess.judge_in_subprocess", fail)
    assert main(["check", f"{models}:good"]) == 3
    error = capsys.readouterr().err
    assert "RuntimeError: broken" in error and "report it" in error


SLOW = """
import multiprocessing
import time
import torch

lock = multiprocessing.Lock()  # tqdm makes one as well, and torch.fx uses tqdm where it is installed

class Slow(torch.nn.Module):
    def forward(self, x):
        if torch.compiler.is_exporting():
            open({started!r}, "w").close()
            time.sleep(300)
        return x

def make():
    return Slow(), (torch.ones(2),)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.nightly)])
def test_interrupted_it_says_so_and_leaves_no_process(number: signal.Signals, tmp_path: pathlib.Path) -> None:
    started = tmp_path / "started"
    file = tmp_path / "slow.py"
    file.write_text(SLOW.format(started=str(started)))
    command = [sys.executable, "-m", "exportdiff", "check", f"{file}:make", "--all", "--limit", "200s"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_for(started.exists)
        children = _descendants(process.pid)
        assert children
        process.send_signal(number)
        out, error = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "was not judged: interrupted" in out
    assert "leaked" not in error
    wait_for(lambda: not any(pathlib.Path(f"/proc/{child}").exists() for child in children))


def test_killed_it_leaves_no_process(tmp_path: pathlib.Path) -> None:
    started = tmp_path / "started"
    file = tmp_path / "slow.py"
    file.write_text(SLOW.format(started=str(started)))
    command = [sys.executable, "-m", "exportdiff", "check", f"{file}:make", "--limit", "200s"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_for(started.exists)
        children = _descendants(process.pid)
        assert children
        process.kill()
    wait_for(lambda: not any(pathlib.Path(f"/proc/{child}").exists() for child in children))


def _descendants(pid: int) -> list[int]:
    file = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    children = [int(child) for child in file.read_text().split()] if file.exists() else []
    return [*children, *(further for child in children for further in _descendants(child))]


def wait_for(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.05)


def test_the_time_limit_holds_and_is_no_pass(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "slow.py"
    file.write_text(SLOW.format(started=str(tmp_path / "started")))
    # The model sleeps for five minutes: only the limit ends this.
    assert main(["check", f"{file}:make", "--limit", "3s"]) == 2
    assert "was not judged: the time limit was reached" in capsys.readouterr().out


def test_a_finding_is_minimized_to_a_file_that_shows_it(
    wrong: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "repros"
    command = ["check", wrong, "--paths", "nonstrict:unflatten", "--fail-on", "silent"]
    assert main([*command, "--minimize", "3s", "--repros", str(folder)]) == 1
    (file,) = folder.iterdir()
    assert f"python {file}" in capsys.readouterr().err
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stderr


@pytest.mark.parametrize(("unread", "meaning"), [(True, "harmless"), (False, "wrong")])
def test_a_copy_shares_what_nothing_reads(unread: bool, meaning: str) -> None:
    finding = replace(make_finding("value"), check="sharing", evidence=CopyShares(("count",), unread=unread))
    assert Found(finding, (KnownCause("fix", "root"),)).meaning == meaning


@pytest.mark.nightly
def test_state_that_nothing_reads_is_not_called_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strict export has no placeholder for the counter of a batch norm in eval mode, unflatten no copy."""
    import torch

    monkeypatch.chdir(ROOT)  # where the corpus is

    norm = torch.nn.Sequential(torch.nn.BatchNorm1d(2)).eval()
    report = exportdiff.compare(norm, (torch.ones(3, 2),), paths=["strict:unflatten"])
    (found,) = (each for each in report.found if each.finding.check == "sharing")
    counter = "0.num_batches_tracked"
    assert found.finding.evidence == CopyShares((counter,), unread=True)
    assert (found.meaning, found.known, report.exit_code()) == ("harmless", True, 0)
    read = replace(found, finding=replace(found.finding, evidence=CopyShares((counter,))))
    assert read.meaning == "wrong"


ALTERED = Altered("value", "args[1] is 9, not 1", "args[1]", "9")


@pytest.mark.parametrize(
    ("evidence", "meaning"),
    [
        (ProcessLeftDifferent(0, "grad mode", None, "ValueError", ("True", "False")), "wrong"),
        (ProcessLeftDifferent(0, "grad mode", ALTERED, "IndexError", ("True", "False")), "wrong"),
        (ProcessLeftDifferent(0, "text on standard output", ALTERED, "", None), "harmless"),
        (ModuleChanged("export", "training flag", ("",)), "wrong"),
        (ProcessChanged("export", ("global random number generator",), failed=True), "wrong"),
        (ProcessChanged("export", ("global random number generator", "grad mode")), "wrong"),
        (ProcessChanged("lower", ("global random number generator",)), "harmless"),
        (ModuleChanged("export", "attribute", ("mask",)), "harmless"),
        (Printed("export", "standard output", "text", False), "harmless"),
    ],
)
def test_a_known_bug_that_leaves_the_model_or_the_process_changed_fails(
    evidence: Evidence, meaning: str
) -> None:
    finding = replace(make_finding("value"), check="purity", evidence=evidence)
    found = Found(finding, (KnownCause("fix", "root"),))
    assert (found.meaning, found.fails("any")) == (meaning, meaning == "wrong")


@pytest.mark.parametrize("in_eager", [True, False])
def test_hooks_that_eager_installs_too_are_no_finding(in_eager: bool) -> None:
    """As models of transformers do, in their first call."""
    import torch

    class Hooked(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.child = torch.nn.ReLU()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if (in_eager or torch.compiler.is_exporting()) and not self.child._forward_hooks:
                self.child.register_forward_hook(lambda *_: None)
            out: torch.Tensor = self.child(x)
            return out

    report = exportdiff.compare(Hooked(), (torch.ones(2),), paths=["nonstrict:module"])
    messages = [found.finding.message for found in report.found]
    (path,) = report.paths
    if in_eager:
        assert (messages, path.excused) == ([], ("hooks-change-as-in-eager",))
    else:
        assert (messages, path.excused) == (["export changed hooks of the model: child"], ())

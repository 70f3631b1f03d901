"""Exports of a test suite are judged next to it: by the recorder, by pytest, and for any command."""

from __future__ import annotations

import inspect
import json
import os
import pathlib
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import export

from exportdiff.cli import main
from exportdiff.interfaces.reports.suite_lines import suite_lines
from exportdiff.interfaces.suites import judging
from exportdiff.interfaces.suites.journal import Journal
from exportdiff.interfaces.suites.judged_call import CallOutcome, JudgedCall, Place, Subject, Unjudgeable
from exportdiff.interfaces.suites.recorder import Recorder
from exportdiff.interfaces.suites.tally import SuiteTally, tally
from exportdiff.runtime.paths import backends
from support.schemas import validator

pytest_plugins = ["pytester"]


def recorded(folder: pathlib.Path, body: Callable[[], object], paths: tuple[str, ...] = ()) -> SuiteTally:
    journal = Journal(folder)
    recorder = Recorder(journal, 60.0, paths)
    recorder.install()
    try:
        body()
    finally:
        recorder.remove()
        recorder.finish()
    return tally(journal.read())


def scaled(factor: float) -> nn.Module:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner: Callable[[torch.Tensor], torch.Tensor] = lambda x: x * factor

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x)

    return Scaled()


class Asks(nn.Module):
    """Differs on purpose: no bug of torch explains it."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 2 if torch.compiler.is_exporting() else x + 1


class AsksWhenCompiled(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 2 if torch.compiler.is_compiling() else x + 1


class Branches(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1 if x.sum() > 0 else x


@pytest.fixture(scope="module", autouse=True)
def no_corpus() -> Iterator[None]:
    """Trying all known bugs on a new difference takes long. Copies of this process have the change too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "default_corpora", lambda: None)
        yield


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> SuiteTally:
    """Calls with every outcome that needs no known bug."""

    def body() -> None:
        for factor in (2.0, 3.0):
            export(scaled(factor), (torch.ones(2),))
        export(scaled(2.0), (torch.ones(3),))
        export(Asks(), (torch.ones(2),), strict=True)
        for model, args in ((Branches(), (torch.ones(2),)), (3, ()), (nn.Linear(2, 2), (torch.ones(3),))):
            with pytest.raises((RuntimeError, ValueError)):
                export(model, args)  # type: ignore[arg-type]  # the mistake
        export(nn.ReLU(), (torch.ones(2, device="meta"),))
        with torch._functorch.config.patch(fake_tensor_propagate_real_tensors=True):
            export(nn.Tanh(), (torch.ones(2),))

    return recorded(tmp_path_factory.mktemp("journal"), body)


def outcomes(counted: SuiteTally) -> dict[str, CallOutcome]:
    return {row.call.subject.model: row.call.outcome for row in counted.rows if row.call.subject is not None}


def test_each_call_has_an_outcome(counted: SuiteTally) -> None:
    assert outcomes(counted) == {
        "scaled.<locals>.Scaled": "agrees",
        "Asks": "new",
        "Branches": "refused",
        "int": "not judged",
        "Linear": "not judged",
        "ReLU": "not judged",
        "Tanh": "not judged",
    }
    assert counted.reasons == {
        "the model is not an nn.Module": 1,
        "eager raises, or disagrees with itself": 1,
        "no values: fake, meta or uninitialized tensors": 1,
        "made with fake_tensor_propagate_real_tensors, which is for debugging": 1,
    }


def test_equal_calls_are_judged_once_and_other_shapes_are_not_equal(counted: SuiteTally) -> None:
    times = [row.times for row in counted.rows if row.call.outcome == "agrees"]
    assert sorted(times) == [1, 2]
    assert counted.calls == len(counted.rows) + 1


def test_a_call_is_named_after_its_line_and_judged_as_it_was_made(counted: SuiteTally) -> None:
    (row,) = (row for row in counted.rows if row.call.outcome == "new")
    assert pathlib.Path(row.call.place.file).name == "test_suites.py"
    line = pathlib.Path(__file__).read_text(encoding="utf-8").splitlines()[row.call.place.line - 1]
    assert line.strip().startswith("export(Asks()")
    assert row.call.report is not None
    assert {each.path.mode for each in row.call.report.paths} == {"strict"}
    text = "\n".join(suite_lines(counted))
    assert text.startswith("differences that no known bug explains: 1\n")
    assert f"at {row.call.place.file}:{row.call.place.line}" in text


def test_the_document_fits_its_schema_and_the_exit_code_is_of_findings(counted: SuiteTally) -> None:
    document = json.loads(json.dumps(counted.as_dict()))
    validator(f"judge-{document['format']}").validate(document)
    assert document["outcomes"]["new"] == 1 and document["judged"] == 4
    assert counted.exit_code("new") == 1
    assert SuiteTally(()).exit_code("new") == 2


def test_the_suite_goes_on_as_without_the_recorder(tmp_path: pathlib.Path) -> None:
    original = torch.export.export
    states: list[Any] = []

    def body() -> None:
        assert export is torch.export.export is not original
        torch.manual_seed(0)
        random.seed(0)
        program = export(nn.Dropout(), (torch.ones(2),))
        states.append((torch.get_rng_state().tolist(), random.getstate(), str(program.graph)))
        with pytest.raises(TypeError, match=r"^export\(\) missing 1 required positional argument: 'args'$"):
            export(nn.ReLU())  # type: ignore[call-arg]  # the mistake

    judged = recorded(tmp_path, body, ("nonstrict:module",))
    assert export is torch.export.export is original
    torch.manual_seed(0)
    random.seed(0)
    program = export(nn.Dropout(), (torch.ones(2),))
    assert states == [(torch.get_rng_state().tolist(), random.getstate(), str(program.graph))]
    (row,) = judged.rows[:1]
    assert row.call.report is not None
    assert [str(each.path) for each in row.call.report.paths] == ["nonstrict:module@cpu"]


class OnCuda(torch.Tensor):
    is_cuda = True


@pytest.mark.parametrize(("tensor", "outcomes"), [(torch.Tensor, ["agrees"]), (OnCuda, ["not judged"])])
def test_only_tensors_on_cuda_need_a_process_that_can_use_it(
    tensor: type[torch.Tensor], outcomes: list[str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "_is_in_bad_fork", lambda: True)
    suite = recorded(
        tmp_path, lambda: export(nn.ReLU(), (torch.ones(2).as_subclass(tensor),)), ("nonstrict:module",)
    )
    assert [row.call.outcome for row in suite.rows] == outcomes


class Compares(nn.Module):
    """Compiles a model of its own when it is called."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = torch.compile(nn.Tanh(), backend="eager")
        return torch.as_tensor(inner(x)) - x.tanh()


def test_a_compiled_model_is_judged_at_its_first_call(tmp_path: pathlib.Path) -> None:
    original = torch._dynamo.eval_frame.OptimizedModule.__call__

    def body() -> None:
        compiled = torch.compile(AsksWhenCompiled(), backend="eager")
        compiled(torch.ones(2))
        compiled(torch.ones(3))
        torch.compile(nn.ReLU())
        torch.compile(nn.ReLU(), disable=True)(torch.ones(2))
        torch.compile(lambda x: x, backend="eager")(torch.ones(2))
        for options in ({"fullgraph": True, "backend": "eager"}, {"backend": "aot_eager"}):
            torch.compile(nn.Tanh(), **options)(torch.ones(2))
        Compares()(torch.ones(2))
        torch.compile(nn.LazyLinear(2), backend="eager")(torch.ones(2, 2))

    suite = recorded(tmp_path, body)
    assert torch._dynamo.eval_frame.OptimizedModule.__call__ is original
    rows = [
        (row.call.subject.model, row.call.outcome, paths_of(row.call))
        for row in suite.rows
        if row.call.subject is not None
    ]
    assert sorted(rows) == [
        ("AsksWhenCompiled", "new", ("compile:compiled",)),
        ("LazyLinear", "not judged", ()),
        ("Tanh", "agrees", ("compile:compiled",)),
        ("Tanh", "agrees", ("compile:compiled", "compile:aot_eager")),
        ("Tanh", "agrees", ("compile:fullgraph",)),
    ]
    assert suite.reasons == {"no values: fake, meta or uninitialized tensors": 1}
    (new,) = suite.of("new")
    line = pathlib.Path(__file__).read_text(encoding="utf-8").splitlines()[new.call.place.line - 1]
    assert line.strip() == 'compiled = torch.compile(AsksWhenCompiled(), backend="eager")'


def paths_of(call: JudgedCall) -> tuple[str, ...]:
    return tuple(each.path.without_device for each in call.report.paths) if call.report else ()


def test_an_export_to_onnx_is_one_call(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exported = []

    def export_to_onnx(
        model: nn.Module, args: tuple[Any, ...], f: str | None = None, **options: object
    ) -> None:
        exported.append(torch.export.export(model, args))

    options = ("dynamo", "optimize", "external_data", "dynamic_shapes", "kwargs")
    signature = inspect.Signature(
        [
            *list(inspect.signature(export_to_onnx).parameters.values())[:3],
            *(inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY, default=None) for each in options),
        ]
    )
    monkeypatch.setattr(export_to_onnx, "__signature__", signature, raising=False)
    monkeypatch.setattr(torch.onnx, "export", export_to_onnx)

    def body() -> None:
        torch.onnx.export(nn.ReLU(), (torch.ones(2),), dynamo=True, optimize=True)
        torch.onnx.export(nn.ReLU(), (torch.ones(2),), dynamo=False)

    suite = recorded(tmp_path, body)
    assert len(exported) == 2
    assert {row.call.place.api for row in suite.rows} == {"torch.onnx.export"}
    judged, unjudged = suite.rows
    assert unjudged.call.why_not is not None
    assert unjudged.call.why_not.reason == "torch.onnx.export without dynamo uses TorchScript"
    if backends.lacking("onnx"):
        assert judged.call.why_not is not None and judged.call.why_not.reason == "a package is missing"
    else:
        assert paths_of(judged.call) == ("nonstrict:module", "nonstrict+decompose:module", "onnx:program")


def test_a_call_whose_process_answered_nothing_is_counted() -> None:
    place = Place("torch.export.export", "test_a.py", 1, "test_a.py::test")
    lost = JudgedCall(place, None, unjudgeable=Unjudgeable("its process ended", "SIGSEGV"))
    again = JudgedCall(place, Subject("key", "Net", ""), again=True)
    counted = tally([lost, lost, again])
    assert len(counted.rows) == 3 and counted.judged == 0
    assert "  2 its process ended: test_a.py:1" in list(suite_lines(counted))


SUITE = """
import torch
from torch.export import export


class Asks(torch.nn.Module):
    def forward(self, x):
        return x + 2 if torch.compiler.is_exporting() else x + 1


def test_it():
    export(Asks(), (torch.ones(2),))


if __name__ == "__main__":
    test_it()
    print("the suite is done")
"""


def test_pytest_prints_a_section_and_ends_as_before(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_asks=SUITE)
    options = ["-p", "no:xdist", "-p", "no:randomly", "--export-paths", "nonstrict:module"]
    # In a process of its own: pytester takes back every import, and torch must not be imported twice.
    result = pytester.runpytest_subprocess(*options, "--export-judge", "--export-judge-json", "out.json")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [
            "*exports against eager (exportdiff)*",
            "differences that no known bug explains: 1",
            "outputs mismatch on nonstrict:module@cpu *",
            "    at test_asks.py:11 (test_asks.py::test_it)",
            "1 call, 1 different, 1 judged (100%)*",
        ]
    )
    (row,) = json.loads((pytester.path / "out.json").read_text())["rows"]
    assert row["tests"] == ["test_asks.py::test_it"] and row["outcome"] == "new"


def test_any_command_is_judged(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "suite.py").write_text(SUITE.replace("x + 2 if torch.compiler.is_exporting() else ", ""))
    (tmp_path / "sitecustomize.py").write_text("print('the environment has its own')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *filter(None, sys.path)]))
    options = ["--paths", "nonstrict:module", "--json", "out.json"]
    assert main(["judge", *options, "--", sys.executable, "suite.py"]) == 0
    printed = capfd.readouterr().out
    assert printed.startswith("the environment has its own\nthe suite is done\n")
    assert "1 call, 1 different, 1 judged (100%)" in printed
    (row,) = json.loads(pathlib.Path("out.json").read_text())["rows"]
    assert (row["file"], row["line"], row["outcome"]) == ("suite.py", 12, "agrees")


def test_a_command_that_cannot_be_judged_exits_with_2(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", "--", "no-such-command"]) == 2
    assert (
        capfd.readouterr().err
        == "exportdiff judge: no-such-command cannot be started: No such file or directory\n"
    )
    assert main(["judge", "--", "true"]) == 2
    assert "nothing was compared" in capfd.readouterr().out

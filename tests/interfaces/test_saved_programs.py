"""``exportdiff check --program``: files that somebody else has exported."""

from __future__ import annotations

import json
import pathlib
import zipfile

import pytest
import torch

from exportdiff.cli import main
from exportdiff.core.errors import UsageError
from exportdiff.core.target import Target
from exportdiff.interfaces.checking.given import Given
from exportdiff.interfaces.checking.in_process import judge_in_process
from exportdiff.interfaces.checking.loading import load
from exportdiff.interfaces.checking.program_weights import draws_weights
from exportdiff.interfaces.checking.report import Report
from exportdiff.interfaces.checking.saved_programs import read_program
from exportdiff.runtime.paths import parse, select_paths
from support.saved_programs import write_programs
from support.schemas import validator


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    made = tmp_path_factory.mktemp("programs")
    write_programs(made)
    return made


def judged(folder: pathlib.Path, name: str, program: str, *, shapes: str = "") -> Report:
    """Judge a saved program in this process."""
    file = folder / "net.py"
    if shapes:
        file = folder / f"with_shapes_{name}.py"
        file.write_text(f"from net import *\n\n\ndef dynamic_shapes():\n    return {shapes}\n")
    given = Given(pathlib.Path(f"{program}.pt2"), folder=folder)
    case = load(Target.parse(f"{file}:{name}"), given=given)
    return judge_in_process(case, select_paths(["file:*"]))


def test_a_right_program_agrees(folder: pathlib.Path) -> None:
    report = judged(folder, "seeded", "right")
    assert report.outcomes.counts["agrees"] == 2


@pytest.mark.parametrize(
    ("name", "program", "check", "says"),
    [
        ("seeded", "other_weights", "state", "parameter fc.weight differs in value"),
        ("seeded", "trains", "outputs", "output['y'] differs in value"),
        ("changed", "right", "outputs", "output['y'] differs in value"),
        ("larger", "right", "state", "parameter head.weight (float32[4, 4]) of eager is missing"),
    ],
)
def test_a_stale_program_differs(
    folder: pathlib.Path, name: str, program: str, check: str, says: str
) -> None:
    report = judged(folder, name, program)
    assert report.outcomes.counts["differs"] == 2
    assert any(each.finding.check == check and says in each.finding.message for each in report.found)


def test_a_program_that_fixes_a_declared_size_differs(folder: pathlib.Path) -> None:
    shapes = '{"x": {0: torch.export.Dim("batch")}, "scale": None}'
    report = judged(folder, "seeded", "fixed", shapes=shapes)
    assert any("declares it" in each.finding.message for each in report.found)
    assert not judged(folder, "seeded", "right", shapes=shapes).found


def test_sizes_that_the_program_declares_are_tried(folder: pathlib.Path) -> None:
    target = Target.parse(f"{folder / 'net.py'}:seeded")
    (probe,) = load(target, given=Given(pathlib.Path("right.pt2"), folder=folder)).build().probes
    assert probe.args[0].shape == (6, 3)
    assert not load(target, given=Given(pathlib.Path("fixed.pt2"), folder=folder)).build().probes


def test_a_model_with_random_weights_gets_those_of_the_program(folder: pathlib.Path) -> None:
    target = Target.parse(f"{folder / 'net.py'}:make")
    assert draws_weights(load(target))
    case = load(target, given=Given(pathlib.Path("other_weights.pt2"), folder=folder))
    program = torch.export.load(folder / "other_weights.pt2")
    assert torch.equal(case.build().model.state_dict()["fc.weight"], program.state_dict["fc.weight"])
    (note,) = case.notes
    assert "draws its weights at random, so eager gets those of other_weights.pt2" in note
    assert judge_in_process(case, select_paths(["file:*"])).outcomes.counts["agrees"] == 2


def test_a_model_with_the_same_weights_each_time_keeps_them(folder: pathlib.Path) -> None:
    assert not draws_weights(load(Target.parse(f"{folder / 'net.py'}:seeded")))


def test_a_decomposed_program_is_for_inference(folder: pathlib.Path) -> None:
    report = judged(folder, "seeded", "decomposed")
    assert report.outcomes.counts["agrees"] == 2


def test_transforms_of_saved_programs() -> None:
    assert parse("file+decompose:module").transforms == ("decompose",)
    for written in ("file+preserve:unflatten", "file+train:module"):
        with pytest.raises(ValueError, match="loads what was exported before"):
            parse(written)


@pytest.mark.parametrize(
    ("members", "says"),
    [
        (None, "a part of it is missing"),
        ([], "it is no file of torch.export.save"),
        (["model/data/aotinductor/model/model.so"], "a package of AOTInductor"),
        (["model/constants.pkl", "model/data.pkl"], "a TorchScript archive"),
        (["archive/data.pkl"], "torch.save wrote it"),
        (["a/models/encoder.json", "a/models/decoder.json"], "it has decoder, encoder"),
        (["a/models/model.json"], "torch.export.load of torch"),
    ],
)
def test_a_wrong_file_is_explained_in_a_line(
    tmp_path: pathlib.Path, members: list[str] | None, says: str
) -> None:
    file = tmp_path / "wrong.pt2"
    if members is None:
        file.write_bytes(b"PK\3\4 and then nothing")
    else:
        with zipfile.ZipFile(file, "w") as archive:
            for each in members:
                archive.writestr(each, "")
    with pytest.raises(UsageError, match=says) as raised:
        read_program(file, pathlib.Path("wrong.pt2"))
    assert str(raised.value).startswith("--program wrong.pt2: ")
    assert "\n" not in str(raised.value)


@pytest.mark.usefixtures("no_known_bugs")
def test_the_command(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = f"{folder / 'net.py'}:make"
    assert main(["check", target, "--program", str(folder / "right.pt2"), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    validator("check-1").validate(printed)
    assert printed["options"] == [f"--program {folder / 'right.pt2'}"]
    assert len(printed["notes"]) == 1
    assert list(printed["paths"]) == ["file:module@cpu", "file:unflatten@cpu"]


@pytest.mark.usefixtures("no_known_bugs")
def test_the_output_names_the_program(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    target, program = f"{folder / 'net.py'}:changed", folder / "right.pt2"
    assert main(["check", target, "--program", str(program), "--paths", "file:module"]) == 1
    printed = capsys.readouterr().out
    assert f"$ exportdiff check {target} --program {program} --paths 'file:module'" in printed
    assert "next: export the model again" in printed
    assert "few people deploy" not in printed


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--program", "none.pt2"], "--program none.pt2: there is no such file"),
        (["--program", "net.pte"], "--program net.pte: there is no such file"),
        (["--program", "folder.pt2"], "it is a folder"),
        (["--program", "net.py"], "the name of such a file ends in .pt2 or .onnx or .pte"),
        (["--program", "broken.pt2"], "it is no file of torch.export.save"),
        (["--program", "broken.pt2", "--minimize", "9s"], "--minimize cannot be combined with --program"),
        (["--paths", "file:module"], "runs a saved program: give one with exportdiff check --program"),
    ],
)
def test_a_mistake_is_one_line_and_exits_with_2(
    folder: pathlib.Path,
    options: list[str],
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    pathlib.Path("folder.pt2").mkdir(exist_ok=True)
    pathlib.Path("broken.pt2").write_bytes(b"no archive")
    assert main(["check", "net.py:make", *options]) == 2
    printed = capsys.readouterr().err
    assert says in printed
    assert printed.count("\n") == 1


def test_campaigns_refuse_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--paths", "file:module", "--examples", "1"]) == 2
    assert "runs a saved program" in capsys.readouterr().err
    assert not [each for each in select_paths([]) if each.mode == "file"]

"""``fuzz --near``: programs of the corpus with a few edits."""

from __future__ import annotations

import pathlib
import random
from dataclasses import replace

import pytest

from exportdiff.cli import main
from exportdiff.core.case import case_from_source
from exportdiff.core.errors import UsageError
from exportdiff.core.plain_data import dumps, loads
from exportdiff.fuzzing.campaign.postmortem import death_finding
from exportdiff.fuzzing.campaign.schedule import paths_for
from exportdiff.fuzzing.campaign.worker import Job, known_by_resemblance, run_examples
from exportdiff.fuzzing.near import drawing
from exportdiff.fuzzing.near.drawing import near_program, path_of
from exportdiff.fuzzing.near.editing import edited
from exportdiff.fuzzing.near.edits import EDITS
from exportdiff.fuzzing.near.loading import read_near
from exportdiff.fuzzing.near.merging import merged
from exportdiff.fuzzing.near.model import Near
from exportdiff.judging.judge_case import judge_case
from exportdiff.known.attribution.knowledge import knowledge
from exportdiff.known.attribution.resemblance import resembling
from exportdiff.runtime.paths import all_paths, parse
from exportdiff.runtime.processes.child import Death
from support.folders import CORPORA

MODEL = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.ReLU()
        self.register_buffer("count", torch.zeros(2, dtype=torch.float32))

    def forward(self, x, flag=True):
        y = x + 1
        with torch.no_grad():
            self.count.add_(1)
        if flag and x.dim() > 0:
            y = torch.sin(y)
        return self.layer(y)


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(2),)
"""


@pytest.fixture(scope="module")
def near() -> Near:
    return read_near([], CORPORA)


def test_the_same_seed_gives_the_same_programs_and_others_give_others(near: Near) -> None:
    one = [near_program(near, 1, index) for index in range(4)]
    assert one == [near_program(near, 1, index) for index in range(4)]
    assert one != [near_program(near, 2, index) for index in range(4)]
    for source, tags in one:
        assert judge_case(case_from_source(source), []).valid
        assert any(tag.startswith("near.") for tag in tags)


def test_an_entry_explains_that_an_edit_of_its_program_kills_the_process() -> None:
    name = "decompose_ends_the_process_for_sparse_input"
    source = (CORPORA / "open" / f"{name}.py").read_text()
    deaths = [death_finding(parse("nonstrict+decompose:module"), Death("abort", "SIGABRT"))]
    job = Job(0, (), corpora=CORPORA)
    (explained,) = known_by_resemblance(job, source, (f"near.{name}",), deaths)
    assert (explained.finding, explained.causes[0].root) == (deaths[0], name)
    assert not known_by_resemblance(job, source, (), deaths)
    assert not known_by_resemblance(replace(job, corpora=None), source, (f"near.{name}",), deaths)


@pytest.mark.parametrize("name", sorted(EDITS))
def test_an_edit_changes_a_model_in_one_place_so_that_eager_still_runs(name: str) -> None:
    before = edited(MODEL, EDITS[name], random.Random(0))
    assert before is not None, f"{name} fits nowhere in a plain model"
    for seed in range(60):
        source = edited(MODEL, EDITS[name], random.Random(seed))
        assert source is not None and "".join(source.split()) != "".join(MODEL.split())
        try:
            built = case_from_source(source).build()
            built.model(*built.args)
            return
        except Exception:
            continue
    pytest.fail(f"{name} never gives a model that runs")


ENDLESS = """
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        while x.sum() < 9:
            x = x + 0
        return x


def make():
    return Model(), (torch.ones(2),)
"""


def test_a_program_that_never_ends_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "SECONDS", 0.2)
    assert drawing.runs(MODEL)
    assert not drawing.runs(ENDLESS)


def test_the_program_runs_on_the_path_of_its_file_as_well(near: Near) -> None:
    (file,) = read_near([CORPORA / "open" / "cast_splits_module_of_two_names.py"], CORPORA).files
    assert file.path is not None
    job = Job(0, tuple(all_paths()), near=Near((file,)), known_every=0)
    index = next(index for index in range(100) if file.path not in paths_for(index, job.paths))
    assert path_of(near, 0, index) != path_of(Near((file,)), 0, index) == file.path
    (result,) = run_examples(replace(job, paths=(parse("nonstrict:module"), file.path)), [index])
    assert result.verdict is not None and file.path in [each.path for each in result.verdict.paths]


def test_a_bug_without_a_fix_is_known_near_its_own_file() -> None:
    (file,) = read_near([CORPORA / "open" / "export_drops_hook_on_tensor.py"], CORPORA).files
    known, case = knowledge(CORPORA), case_from_source(file.source)
    (finding,) = judge_case(case, [parse("nonstrict:module")]).findings
    (entry,) = [entry for entry in known.entries if entry.name == file.name]
    assert not entry.fix
    explained = resembling(finding, case, (f"near.{file.name}",), known)
    assert explained is not None and [each.root for each in explained.causes] == [file.name]
    assert resembling(finding, case, ("near.another_file",), known) is None


def test_two_programs_become_one_whose_models_do_not_get_in_each_others_way() -> None:
    other = MODEL.replace("torch.sin(y)", "torch.cos(y)")
    both = merged(MODEL, other)
    assert both is not None
    built = case_from_source(both).build()
    one, two = built.model(*built.args)
    alone = case_from_source(other).build()
    assert two.equal(alone.model(*alone.args)) and not one.equal(two)


def test_programs_with_dynamic_sizes_are_not_merged() -> None:
    dynamic = f"{MODEL}\n\ndef dynamic_shapes():\n    return ({{0: torch.export.Dim.AUTO}},)\n"
    assert merged(MODEL, dynamic) is None and merged(dynamic, MODEL) is None


def test_what_says_which_sizes_are_dynamic_stays_as_it_is() -> None:
    shapes = "\n\ndef dynamic_shapes():\n    return ({0: torch.export.Dim('n', min=2, max=8)},)\n"
    for seed in range(20):
        source = edited(MODEL + shapes, EDITS["another-number"], random.Random(seed))
        assert source is not None and "min=2, max=8" in source


def test_the_files_cross_a_process_boundary(near: Near) -> None:
    assert loads(dumps(near)) == near


def test_bad_files_are_named(tmp_path: pathlib.Path) -> None:
    with pytest.raises(UsageError, match="there is no such file"):
        read_near([tmp_path / "missing.py"], CORPORA)
    with pytest.raises(UsageError, match="there is no corpus"):
        read_near([], None)


@pytest.mark.parametrize("option", [["--around", "m.py:make"], ["--profile", "core"]])
def test_near_cannot_be_combined_with(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--near", *option]) == 2
    assert "cannot be combined with --" in capsys.readouterr().err

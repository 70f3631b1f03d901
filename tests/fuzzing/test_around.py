"""``fuzz --around``: a model that exists, in situations; from the text of a file to a finding."""

from __future__ import annotations

import ast
import pathlib
from collections import Counter
from dataclasses import replace

import pytest

from exportdiff.cli import main
from exportdiff.core.case import case_from_source
from exportdiff.core.plain_data import dumps, loads
from exportdiff.core.programs import tag_names
from exportdiff.fuzzing.around.drawing import MOST, Choice, around_program, choices, with_situations
from exportdiff.fuzzing.around.loading import drawn_or_refused, read_around
from exportdiff.fuzzing.around.model import IMPORTS, Around, UnusableModel
from exportdiff.fuzzing.around.situations import SITUATIONS
from exportdiff.fuzzing.campaign.campaign import Campaign
from exportdiff.fuzzing.campaign.events import ExampleDone, FindingFound, FindingMinimized
from exportdiff.fuzzing.campaign.postmortem import death_finding
from exportdiff.fuzzing.campaign.settings import CampaignSettings
from exportdiff.fuzzing.minimizing import minimize
from exportdiff.judging.judge_case import judge_case
from exportdiff.lab.zoo.as_source import around_named
from exportdiff.repro import repro_source
from exportdiff.repro.confirm import confirm
from exportdiff.runtime.paths import parse
from exportdiff.runtime.processes.child import Death

MODEL = '''"""A model of mine."""

from __future__ import annotations

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one = torch.nn.Linear(4, 4)
        self.other = torch.nn.Linear(4, 4)

    def forward(self, x, y, doubled=False):
        out = self.other(self.one(x)) + y
        return out * 2 if doubled else out


def build():
    return Net().eval(), (torch.ones(3, 4), torch.ones(3, 4))


def wrong():
    return Net().eval(), (torch.ones(3, 5), 1)
'''


@pytest.fixture
def file(tmp_path: pathlib.Path) -> pathlib.Path:
    file = tmp_path / "mine.py"
    file.write_text(MODEL)
    return file


@pytest.fixture
def around(file: pathlib.Path) -> Around:
    return read_around(f"{file}:build")


def test_the_same_seed_gives_the_same_programs_and_others_give_others(around: Around) -> None:
    one = [around_program(around, 1, index) for index in range(10)]
    assert one == [around_program(around, 1, index) for index in range(10)]
    assert one != [around_program(around, 2, index) for index in range(10)]
    assert all(len(choices(1, index)) <= MOST for index in range(10))


def test_every_situation_is_drawn_and_eager_accepts_it(around: Around) -> None:
    drawn = Counter(tag for index in range(250) for tag in around_program(around, 0, index)[1])
    assert not [name for name in SITUATIONS if not drawn[f"around.{name}"]]
    refused = sum(number for tag, number in drawn.items() if tag.startswith("around-refused."))
    assert refused <= drawn.total() // 10


@pytest.mark.parametrize("name", list(SITUATIONS))
def test_a_situation_is_a_statement_and_its_model_runs(around: Around, name: str) -> None:
    for number in range(3):
        placed = with_situations(around, [Choice(name, (number, number, number, number))])
        if not placed.taken:
            continue
        assert placed.taken == (name,) and f"around.{name}" in placed.tags
        assert {*placed.tags} - {f"around.{name}"} <= {*tag_names()}
        assert placed.source.startswith(f"# {around.written}: {SITUATIONS[name].meaning.lower()}\n")
        case = case_from_source(placed.source, finite_only=False)
        assert judge_case(case, []).valid
        # What the minimizer takes away.
        plain, more = (_statements(each) for each in (with_situations(around, ()).source, placed.source))
        assert len(more) == len(plain) + 1
        return
    pytest.fail(f"{name} cannot be used on a plain model")


def _statements(source: str) -> list[ast.stmt]:
    (make,) = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef) and n.name == "make"]
    return make.body


def test_what_eager_refuses_is_left_out_and_counted() -> None:
    source = (
        IMPORTS + "\n\nclass Net(nn.Module):\n    def forward(self, x):\n"
        "        assert not self.training\n        return x + 1\n\n"
        "def original():\n    return Net().eval(), (torch.ones(2),)\n"
    )
    chosen = [Choice("train-mode", ()), Choice("called-twice", ()), Choice("frozen", ())]
    placed = with_situations(Around("net", source), chosen)
    # The model has no parameter that could be frozen.
    assert (placed.taken, placed.refused) == (("called-twice",), ("train-mode",))
    assert placed.tags == ("around-refused.train-mode", "around.called-twice")


@pytest.mark.parametrize(
    ("result", "situation", "tags"),
    [
        ("x", "in-checkpoint", {"region.checkpoint"}),
        ("x", "in-autocast", {"region.autocast"}),
        ("x", "called-twice", set()),
        ("(x, x)", "called-twice", {"calls.group_result"}),
        ('{"x": x}', "called-twice", {"calls.group_result"}),
        ("(x, x)", "train-mode", set()),  # no child returns it
    ],
)
def test_a_program_has_the_tags_that_triggers_of_the_corpus_name(
    result: str, situation: str, tags: set[str]
) -> None:
    """Else an entry without a fix explains no finding of a campaign around a model."""
    source = (
        IMPORTS + f"\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return {result}\n\n"
        "def original():\n    return Net().eval(), (torch.ones(2),)\n"
    )
    assert {*with_situations(Around("net", source), [Choice(situation, ())]).tags} == {
        f"around.{situation}",
        *tags,
    }


def test_a_file_that_imports_its_neighbour_can_be_run_from_anywhere(tmp_path: pathlib.Path) -> None:
    (tmp_path / "neighbour_of_mine.py").write_text("def f(x):\n    return x + 1\n")
    (tmp_path / "mine.py").write_text(
        "from __future__ import annotations\nimport torch\nfrom neighbour_of_mine import f\n"
        "class Net(torch.nn.Module):\n    def forward(self, x):\n        return f(x)\n"
        "def make():\n    return Net(), (torch.ones(2),)\n"
    )
    around = read_around(f"{tmp_path / 'mine.py'}:make")
    source, _ = around_program(around, 0, 0)
    assert str(tmp_path) in source
    assert judge_case(case_from_source(source), []).valid


def test_a_repro_file_begins_with_imports_from_the_future(around: Around) -> None:
    source = around_program(around, 0, 0)[0]
    text = repro_source(death_finding(parse("nonstrict:module@cpu"), Death("abort", "signal 11")), source)
    compile(text, "repro.py", "exec", dont_inherit=True)
    assert text.count("from __future__ import annotations") == 1


def test_a_module_is_imported(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a_package_of_mine.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    around = read_around("a_package_of_mine:build")
    assert "from a_package_of_mine import build as original" in around.source
    assert judge_case(case_from_source(with_situations(around, ()).source), []).valid


def test_models_of_other_packages_are_not_put_under_autocast(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may run other operators when exported, and in bfloat16 no reference says what is right."""
    (tmp_path / "another_package_of_mine.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    both = [Choice("in-autocast", ()), Choice("called-twice", ())]
    assert with_situations(read_around("another_package_of_mine:build"), both).taken == ("called-twice",)
    assert with_situations(read_around("another_package_of_mine.py:build"), both).taken == (
        "in-autocast",
        "called-twice",
    )


def test_models_of_the_zoo_are_text() -> None:
    pytest.importorskip("expecttest")
    around = around_named("module_db/nn.GRUCell")
    assert isinstance(around, Around) and around_named("module_db/nn.GRUCell") == around
    assert "testing" not in around.source
    assert judge_case(case_from_source(with_situations(around, ()).source), []).valid
    assert around_named("module_db/nn.TransformerEncoder") == UnusableModel(
        "it is built from another module, a TransformerEncoderLayer: write a file for it"
    )


def test_mistakes_are_said_in_one_line(
    file: pathlib.Path, around: Around, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = drawn_or_refused(read_around(f"{file}:wrong"), 0, None)
    assert isinstance(wrong, UnusableModel) and wrong.reason.startswith(
        "it does not run in eager: RuntimeError: "
    )
    for arguments, said in (
        (["--around", f"{file}:bild"], "defines no 'bild'; did you mean build?"),
        (["--around", "zoo/llama"], "--around zoo/llama: write FILE.py:NAME, package.module:NAME or one of"),
        (["--around", f"{file}:build", "--profile", "core"], "--profile cannot be combined with --around"),
        (["--around", f"{file}:build", "--resume", "out"], "--around cannot be combined with --resume"),
    ):
        assert main(["fuzz", *arguments]) == 2
        assert said in capsys.readouterr().err


def test_the_model_is_part_of_the_settings(around: Around) -> None:
    settings = CampaignSettings((parse("nonstrict:module@cpu"),), around=around)
    assert loads(dumps(settings)) == settings


LINEAR = f"""{IMPORTS}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


def original():
    return Net(), (torch.ones(2, 4),)
"""
"""Nothing is wrong with it alone."""


EXAMPLES = 10


def test_a_campaign_finds_what_a_situation_breaks_and_names_it() -> None:
    """Without a corpus: unflatten merges the calls of a module that a flag tells apart, among others."""
    around = Around("net", LINEAR)
    paths = (parse("nonstrict:module@cpu"), parse("nonstrict:unflatten@cpu"))
    settings = CampaignSettings(paths, seed=3, examples=EXAMPLES, around=around)
    happened = list(Campaign(settings).run())
    done = [event for event in happened if isinstance(event, ExampleDone)]
    assert len(done) == EXAMPLES and all(event.valid for event in done)
    assert any(tag.startswith("around.") for event in done for tag in event.tags)
    found = [event for event in happened if isinstance(event, FindingFound)]
    assert found
    for event in found:
        assert event.source.startswith("# net: ")
        assert event.source == around_program(around, 3, event.example)[0]
    shards = [
        {
            event.index: event.fingerprints
            for event in Campaign(replace(settings, shard=(part, 2))).run()
            if isinstance(event, ExampleDone)
        }
        for part in (1, 2)
    ]
    assert shards[0] | shards[1] == {event.index: event.fingerprints for event in done}


@pytest.mark.nightly
def test_the_minimizer_takes_situations_away_again(around: Around) -> None:
    pieces = [Choice("frozen", ()), Choice("mutates-input", ()), Choice("input-with-gradient", (0, 1))]
    path = parse("nonstrict:module@cpu")
    for extra in SITUATIONS:
        placed = with_situations(around, [Choice(extra, ()), *pieces])
        verdict = judge_case(case_from_source(placed.source, finite_only=False), [path])
        if verdict.findings:
            break
    else:
        pytest.skip("this torch shows nothing on these")
    small = minimize(placed.source, verdict.findings[0], seconds=60.0)
    assert len(_statements(small.source)) < len(_statements(placed.source))
    assert confirm(repro_source(small.finding, small.source)).confirmed


@pytest.mark.nightly
def test_minimized_findings_keep_few_situations() -> None:
    settings = CampaignSettings(
        (parse("nonstrict:unflatten@cpu"),),
        seed=3,
        examples=24,
        around=Around("net", LINEAR),
        minimize_seconds=30.0,
    )
    small = [event for event in Campaign(settings).run() if isinstance(event, FindingMinimized)]
    assert small
    assert all(event.source.count("class ") <= 3 for event in small)

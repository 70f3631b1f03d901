"""The tags of models that were not drawn, and entries without a fix that explain findings by them."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatch

import pytest

from exportdiff.core.case import case_from_source
from exportdiff.judging.judge_case import judge_case
from exportdiff.known.attribution.attribute import explain
from exportdiff.known.attribution.knowledge import knowledge
from exportdiff.known.attribution.resemblance import resembling
from exportdiff.known.attribution.shown_by_text import SHOWN_BY
from exportdiff.known.attribution.shown_tags import shown_tags
from exportdiff.known.attribution.wrong_calls import makes_wrong_call
from exportdiff.known.corpus.entry import Entry, read_entry
from exportdiff.known.corpus.trigger import triggered
from exportdiff.runtime.paths import parse
from exportdiff_strategies.tags import TAGS
from support.evidence_of import make_finding
from support.folders import CORPORA

MODEL = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.ReLU()
        self.register_buffer("count", torch.zeros(2))

    def forward(self, x):
        return self.layer(x) + self.count


def make():
    return Model().eval(), (torch.ones(2),)
"""


@pytest.mark.parametrize(
    ("old", "new", "tags"),
    [
        ("nn.ReLU()", "nn.AvgPool2d(1)", {"layer.avg_pool1d"}),
        ("self.layer(x)", "self.layer(x).diagonal().add_(1)", {"inplace.view_on_the_spot", "op.view"}),
        ("return self", "self.count += 1\n        return self", {"inplace.buffer"}),
        (
            "return self",
            "self.count = self.count + 1\n        return self",
            {"inplace.buffer", "state.rebound"},
        ),
        (
            "return self.layer(x)",
            "x.add_(1)\n        return x, self.layer(x)",
            {"inplace.input", "output.input"},
        ),
        ("+ self.count", "+ self.count, 2.0", {"output.tuple", "output.number"}),
        ("nn.ReLU()", "nn.BatchNorm1d(2)", {"layer.batch_norm1d"}),
        ("nn.ReLU()", "nn.ReLU(); self.held = [nn.Parameter(torch.ones(2))]", {"state.held_parameter"}),
        ("nn.ReLU()", "nn.ReLU(); self.seen = torch.ones(2); self.seen.add_(1)", {"inplace.constant"}),
        ("nn.ReLU()", "nn.Identity(); self.again = self.layer", {"hierarchy.shared"}),
        (
            "torch.zeros(2))",
            'torch.zeros(2)); self.register_buffer("view", self.count[:1])',
            {"state.one_storage"},
        ),
        ("Model().eval()", "Model()", {"model.training"}),
        (
            "return Model().eval()",
            "model = Model()\n    model.layer = nn.BatchNorm2d(1)\n    return model",
            {"model.training", "state.running_statistics"},
        ),
        ("(torch.ones(2),)", '({"x": torch.ones(2)},)', {"input.dict"}),
        ("(torch.ones(2),)", "(lambda x: (x, x[:1]))(torch.ones(2))", {"input.view_of_another"}),
    ],
)
def test_a_model_has_the_tags_that_its_text_its_modules_and_its_inputs_show(
    old: str, new: str, tags: set[str]
) -> None:
    shown = shown_tags(case_from_source(MODEL.replace(old, new)))
    assert tags <= shown - shown_tags(case_from_source(MODEL))


def test_state_without_strides_is_no_error() -> None:
    source = MODEL.replace("torch.zeros(2))", "torch.eye(2).to_sparse_csr())").replace(" + self.count", "")
    assert "state.transposed" not in shown_tags(case_from_source(source))


def _is_without_fix(entry: Entry) -> bool:
    return bool(entry.trigger) and not entry.fix


# Those of backends too, which need not be installed for this.
ENTRIES = (*knowledge(CORPORA).entries, *map(read_entry, sorted(CORPORA.glob("backends/*/*.py"))))
WITHOUT_FIX = {entry.name: entry for entry in ENTRIES if _is_without_fix(entry)}


@pytest.mark.parametrize("name", WITHOUT_FIX)
def test_the_file_of_an_entry_without_a_fix_shows_what_its_trigger_needs(name: str) -> None:
    """Without that, a user's model with the bug would not be recognized."""
    entry = WITHOUT_FIX[name]
    case = case_from_source(entry.file.read_text())
    assert triggered(entry.trigger, shown_tags(case))
    assert makes_wrong_call(entry, case, make_finding("value"))


SAYING = [name for name, each in WITHOUT_FIX.items() if each.says_which_calls]


@pytest.mark.parametrize("name", SAYING)
def test_an_ordinary_model_makes_no_call_that_an_entry_says_is_wrong(name: str) -> None:
    source = MODEL.replace("nn.ReLU()", "nn.Sequential(nn.LayerNorm(2), nn.Sigmoid(), nn.LogSigmoid())")
    source = source.replace("torch.ones(2)", "torch.arange(2.0)")
    assert not makes_wrong_call(WITHOUT_FIX[name], case_from_source(source), make_finding("value"))


def test_a_model_without_a_wrong_call_does_not_show_the_bug() -> None:
    """On a backend, any operator may give a wrong value: a LayerNorm alone explains none."""
    entry = WITHOUT_FIX["executorch_normalizes_wrongly_far_from_zero"]
    known = replace(knowledge(CORPORA), entries=(entry,))
    finding = make_finding("value", "fresh", path="executorch:portable")
    for shift, names in ((0, []), (1000, [entry.name])):
        source = MODEL.replace("nn.ReLU()", "nn.LayerNorm(2)").replace("ones(2)", f"arange(2) + {shift}.0")
        found = resembling(finding, case_from_source(source), {"layer.layer_norm"}, known)
        assert [cause.name for cause in (found.causes if found is not None else ())] == names


def test_a_model_that_cannot_be_watched_may_show_the_bug() -> None:
    entry = WITHOUT_FIX["executorch_normalizes_wrongly_far_from_zero"]
    raises = MODEL.replace("return self", "raise KeyError\n        return self")
    assert makes_wrong_call(entry, case_from_source(raises), make_finding("value"))


def test_the_tags_of_words_are_those_of_triggers() -> None:
    """Others would recognize nothing."""
    named = {tag for entry in ENTRIES for each in entry.trigger for tag in each.split("|")}
    assert [tag for tag in SHOWN_BY if not any(fnmatch(tag, each) for each in named)] == []
    assert SHOWN_BY.keys() <= TAGS.keys()


def test_an_entry_without_a_fix_explains_a_finding_of_a_users_model() -> None:
    norm = "nn.ReLU()\n        self.one = self.two = nn.BatchNorm1d(3)"
    source = MODEL.replace("nn.ReLU()", norm).replace(
        "Model().eval(), (torch.ones(2),)", "Model(), (torch.ones(4, 3),)"
    )
    source = source.replace("torch.zeros(2)", "torch.zeros(3)").replace(
        "self.layer(x)", "self.two(self.one(x))"
    )
    case, path = case_from_source(source), parse("nonstrict+cast:module")
    verdict = judge_case(case, [path])
    (known,) = explain(case, verdict, shown_tags(case), knowledge(CORPORA))
    assert [each.root for each in known.causes] == ["cast_splits_module_of_two_names"]
    (unknown,) = explain(case, verdict, (), knowledge(CORPORA))
    assert not unknown.causes

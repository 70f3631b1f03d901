"""Severity follows from harm and reach, and the labels of the corpus agree with the zoo."""

from __future__ import annotations

from collections import defaultdict
from typing import get_args

import pytest

from exportdiff.known.corpus.entry import OPEN
from exportdiff.known.corpus.severity import ZOO, Harm, Reach, severity, wrong_labels
from exportdiff.lab.zoo.record import JSON, read
from support.the_corpus import entries

ROOTS = {entry.name: entry for entry in entries(OPEN)}
ROWS = read(JSON).rows


@pytest.mark.parametrize(
    ("harm", "reach", "with_one", "without"),
    [
        ("silently wrong", "everyday", "A", "A"),
        ("wrong later", "everyday", "A", "A"),
        ("clear error", "everyday", "B", "A"),
        ("obscure error", "everyday", "B", "A"),
        ("cosmetic", "everyday", "C", "C"),
        ("silently wrong", "occasional", "B", "B"),
        ("obscure error", "occasional", "B", "B"),
        ("cosmetic", "occasional", "C", "C"),
        ("silently wrong", "contrived", "C", "C"),
        ("obscure error", "contrived", "C", "C"),
    ],
)
def test_severity_follows_from_the_labels(harm: Harm, reach: Reach, with_one: str, without: str) -> None:
    assert severity(harm, reach, has_workaround=True) == with_one
    assert severity(harm, reach, has_workaround=False) == without


def test_less_reach_or_a_workaround_never_makes_it_worse() -> None:
    for harm in get_args(Harm):
        without = [severity(harm, reach, has_workaround=False) for reach in get_args(Reach)]
        with_one = [severity(harm, reach, has_workaround=True) for reach in get_args(Reach)]
        assert without == sorted(without)
        assert all(map(str.__le__, without, with_one))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"harm": "bad"}, "has harm 'bad' in [tool.exportdiff]; expected silently wrong, wrong later"),
        ({"reach": "often"}, "has reach 'often' in [tool.exportdiff]; expected everyday, occasional"),
        ({"reach": "everyday", "variant-of": "a"}, "a variant has that of its root cause"),
        ({"evidence": ["transformers/gpt2"]}, "no list of https addresses and 'zoo:MODEL'"),
        ({"evidence": "zoo:transformers/gpt2"}, "no list of https addresses and 'zoo:MODEL'"),
        ({"evidence": ["zoo:transformers/gpt2", "https://pytorch.org"], "harm": "cosmetic"}, ""),
    ],
)
def test_a_wrong_label_is_named(table: dict[str, object], message: str) -> None:
    assert message in wrong_labels(table)
    assert bool(message) == bool(wrong_labels(table))


def test_everyday_is_said_with_evidence() -> None:
    without = [name for name, entry in ROOTS.items() if (entry.reach == "everyday") != bool(entry.evidence)]
    assert without == []


def test_evidence_names_models_that_the_zoo_has() -> None:
    rows = {row.model for row in ROWS}
    named = {
        name: [each.removeprefix(ZOO) for each in entry.evidence if each.startswith(ZOO)]
        for name, entry in ROOTS.items()
    }
    assert {name: models for name, models in named.items() if not rows.issuperset(models)} == {}


def test_what_ordinary_models_of_the_zoo_show_is_everyday() -> None:
    """The examples of torch._export.db and of docstrings, and the samples of PyTorch's operators, are made to
    show features: they are no ordinary models.
    """
    shown: dict[str, set[str]] = defaultdict(set)
    for row in ROWS:
        for cell in row.cells.values():
            for finding in cell.findings:
                for name in ROOTS.keys() & set(finding.entries):
                    shown[name].add(row.model)
    ordinary = {
        name: [model for model in models if not model.startswith(("export_db/", "docs/", "operators/"))]
        for name, models in shown.items()
    }
    rare = {name: models for name, models in ordinary.items() if models and ROOTS[name].reach != "everyday"}
    assert len(shown) > 5
    assert rare == {}, "label these entries as everyday, with one of the models as evidence"

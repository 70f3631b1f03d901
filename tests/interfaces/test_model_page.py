"""The HTML file about one model: it stands alone, and shows where each finding begins."""

from __future__ import annotations

import pathlib
import re
from dataclasses import replace
from functools import cache

import pytest

from exportdiff.core.case import case_from_source
from exportdiff.core.side_by_side import SideBySide
from exportdiff.interfaces.checking.report import Report, assembled
from exportdiff.interfaces.reports.page.model_page import SIGNS, model_page, write_model_page
from exportdiff.judging.places import picture
from exportdiff.judging.places.find import first_difference
from exportdiff.judging.verdict import judge
from exportdiff.runtime.paths import parse

SOURCE = """
import torch
from torch import nn

class Center(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("average", torch.zeros(2))

    def forward(self, x):
        self.average = 0.5 * self.average + x.mean(0)  # <u>assigned</u> in a submodule
        return x - self.average

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module("<i>", Center())
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        return self.linear(getattr(self, "<i>")(x) * 2)

def make():
    return Model(), (torch.ones(3, 2) + torch.arange(6.0).view(3, 2),)
"""
PATHS = tuple(map(parse, ("nonstrict:module", "strict:unflatten", "nonstrict+decompose:module")))


@cache
def judged() -> Report:
    case = case_from_source(SOURCE)
    verdict = judge(case, PATHS)
    findings = [replace(each, first_difference=first_difference(case, each)) for each in verdict.findings]
    return assembled("my_model.py:make", PATHS, verdict.paths, findings, verdict.unjudged)


def recorded(report: Report) -> list[SideBySide]:
    places = [each.finding.first_difference for each in report.found]
    return [each.recorded for each in places if each is not None and each.recorded is not None]


def test_the_file_needs_no_other(tmp_path: pathlib.Path) -> None:
    write_model_page(tmp_path / "report.html", judged(), "any", None)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"http:|https:|src=|href=|url\(|@import|<script|<link", text)
    assert text.startswith("<!doctype html>") and "0 of 3 paths agree with eager" in text


def test_names_of_users_are_escaped() -> None:
    text = model_page(judged(), "any", None)
    assert "<i>" not in text and "<u>" not in text
    assert "&lt;i&gt;" in text and "&lt;u&gt;assigned" in text


def test_the_first_difference_is_marked_once_in_each_picture() -> None:
    report = judged()
    pictures = recorded(report)
    assert pictures and all(
        [row.name for row in each.rows if row.state == "first"] == ["<i>"] for each in pictures
    )
    firsts = [
        row for each in pictures for module in each.rows for row in module.operators if row.state == "first"
    ]
    assert len(firsts) == len(pictures) and {row.eager for row in firsts} == {"aten.add"}
    text = model_page(report, "any", None)
    assert len(re.findall(r'<li class="first">\s*<span', text)) == len(pictures) + 1  # and the legend
    assert text.count('<details class="module first" open>') == len(pictures)


def test_modules_are_in_the_order_of_eager_and_what_follows_may_be_equal() -> None:
    (first, *_) = recorded(judged())
    names = [(row.name, row.part, row.state) for row in first.rows]
    assert names == [
        ("", "forward", "equal"),
        ("<i>", "forward", "first"),
        ("linear", "forward", "equal"),
        ("", "results", "different"),
    ]
    results = {row.eager: row.state for row in first.rows[-1].operators}
    assert results["<i>.average"] == "different" and results["output"] == "equal"


def test_a_large_picture_keeps_what_is_near_the_first_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    (first, *_) = recorded(judged())
    monkeypatch.setattr(picture, "MODULES", 2)
    monkeypatch.setattr(picture, "OPERATORS", 3)
    small = picture._bounded(list(first.rows))
    assert len(small.rows) == 2 and small.modules_left_out == len(first.rows) - 2
    assert sum(len(row.operators) for row in small.rows) == 3
    assert sum(row.state == "first" for module in small.rows for row in module.operators) == 1
    everything = sum(len(row.operators) for row in first.rows)
    assert small.operators_left_out == everything - 3


def test_a_crash_is_marked_where_it_is_raised() -> None:
    from exportdiff.lab.faults import FAULTS

    source = SOURCE.replace(
        "0.5 * self.average + x.mean(0)", 'torch.div(x, 2.0, rounding_mode="floor").mean(0)'
    )
    case, path = case_from_source(source), parse("nonstrict+rewritten:module")
    with FAULTS["a_copied_node_loses_its_keyword_arguments"].plant():
        crash = next(each for each in judge(case, [path]).findings if each.kind == "crash")
        place = first_difference(case, crash)
    assert place.recorded is not None
    (row,) = (row for module in place.recorded.rows for row in module.operators if row.state == "first")
    assert (row.eager, row.here) == ("", "raises") and row.here_value.startswith("RuntimeError: aten::div()")


def test_each_state_has_a_sign_that_is_no_colour() -> None:
    assert len({sign for sign, _ in SIGNS.values()}) == len(SIGNS)

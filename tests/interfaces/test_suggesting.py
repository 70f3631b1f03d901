"""Changes of the user's code that a program can make are judged before they are suggested."""

from __future__ import annotations

import pathlib
from dataclasses import replace

import pytest

from exportdiff.core.first_difference import FirstDifference
from exportdiff.core.target import Target
from exportdiff.interfaces.checking.found import Found
from exportdiff.interfaces.checking.loading import load
from exportdiff.interfaces.checking.report import Report, assembled
from exportdiff.interfaces.checking.suggesting import suggestions
from exportdiff.judging.places.find import first_difference
from exportdiff.judging.verdict import judge
from exportdiff.known.attribution.explained import KnownCause
from exportdiff.known.corpus.entry import OPEN, read_entry
from exportdiff.known.corpus.known_bug import known_bug
from exportdiff.known.corpus.mechanical import EDITS, edit_that_makes, edited_line
from exportdiff.runtime.paths import parse
from support.folders import CORPORA

SOURCE = """\
import torch
from torch import nn
from sizes_of_mine import SIZE

class Center(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("average", torch.zeros(SIZE))

    def forward(self, x):
        self.average = (
            0.5 * self.average + x.mean(0)
        )
        return x - self.average

def make():
    return nn.Sequential(Center()), (torch.arange(6.0).view(3, 2),)
"""

UNREAD = """\
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("unread", torch.ones(2))

    def forward(self, x):
        return x + 1


def make():
    return Model(), (torch.ones(2),)
"""


def cause(name: str) -> tuple[KnownCause, ...]:
    entry = read_entry(CORPORA / OPEN / f"{name}.py")
    return (KnownCause(entry.fix, entry.name, known_bug(entry)),)


def checked(file: pathlib.Path, paths: tuple[str, ...], name: str) -> tuple[Report, Target]:
    """Return the report on a file, as if this bug explained all findings."""
    target = Target.parse(f"{file}:make")
    case, chosen = load(target, None), tuple(map(parse, paths))
    verdict = judge(case, chosen)
    found = [replace(each, first_difference=first_difference(case, each)) for each in verdict.findings]
    report = assembled(target.written, chosen, verdict.paths, found, verdict.unjudged)
    return report.with_found(tuple(replace(each, causes=cause(name)) for each in report.found)), target


def test_an_edited_line_is_judged_on_all_paths(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "sizes_of_mine.py").write_text("SIZE = 2\n")
    file = tmp_path / "centered.py"
    file.write_text(SOURCE)
    report, target = checked(
        file, ("nonstrict:module", "nonstrict:unflatten"), "export_drops_buffer_assigned_in_submodule"
    )
    (one,) = suggestions(report, target, None, 1, 100.0, "any")
    assert (one.paths, one.agree, one.agreed_before, one.problem) == (2, 2, 0, "")
    changed = [line for line in one.diff.splitlines() if line[:1] in "-+"][2:]
    assert changed[0] == "-        self.average = ("
    assert changed[-1] == "+        self.average.copy_(0.5 * self.average + x.mean(0))"
    assert list(one.lines())[-1] == "with this change, 2 of 2 paths agree with eager; without it, 0"
    assert file.read_text() == SOURCE


def test_an_option_of_export_is_judged_on_the_paths_of_the_finding(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "unread.py"
    file.write_text(UNREAD)
    report, target = checked(
        file, ("strict:module", "nonstrict:module"), "strict_drops_buffer_that_nothing_reads"
    )
    assert report.found
    (one,) = suggestions(report, target, None, 1, 100.0, "any")
    assert one.diff == "- torch.export.export(..., strict=True)\n+ torch.export.export(..., strict=False)"
    assert (one.paths, one.agree, one.agreed_before) == (1, 1, 0)


def test_lines_of_other_files_and_other_bugs_are_left_alone(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(SOURCE)
    target = Target.parse(f"{file}:make")
    from support.evidence_of import make_finding

    found = Found(make_finding("value"), cause("export_drops_buffer_assigned_in_submodule"))
    elsewhere = found.at(FirstDifference(0, "0", 1, file=str(tmp_path / "other.py"), line=11))
    other = replace(found.at(FirstDifference(0, "0", 1, file=str(file), line=11)), causes=())
    report = Report("model.py:make", "2.13.0", found=(found, elsewhere, other))
    assert suggestions(report, target, None, 1, 100.0, "any") == ()


EXAMPLES = {
    "copied_into_the_attribute": ("self.a.b = x + 1", "self.a.b.copy_(x + 1)"),
    "result_cloned": ("return y", "return y.clone()"),
    "data_detached": ("y = x.data + 1", "y = x.detach() + 1"),
}


@pytest.mark.parametrize("name", EDITS)
def test_each_edit(name: str) -> None:
    before, after = EXAMPLES[name]
    assert edited_line(before, 1, name) == after
    assert edit_that_makes([f"-     {before}", f"+     {after}"]) == name
    assert edited_line("pass", 1, name) is None and edited_line("if True:\n  é = 1; pass\n", 2, name) is None

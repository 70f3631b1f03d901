"""The workarounds of the corpus: on plain torch, each makes its path right, and eager stays as it was."""

from __future__ import annotations

import pathlib
from dataclasses import replace
from functools import cache

import pytest

from exportdiff.known.corpus.entry import OPEN, Entry, find_files, read_entry
from exportdiff.known.corpus.verify import incomplete
from exportdiff.known.corpus.verify_workaround import workaround_problems
from exportdiff.known.corpus.workaround import read_workaround, without_workaround
from support.folders import CORPORA
from support.of_this_torch import only_on_the_pinned_torch

ROOTS = [*map(read_entry, find_files([CORPORA / OPEN]))]

SEVERE = [entry for entry in ROOTS if entry.severity in {"A", "B"}]

WORST = [entry for entry in SEVERE if entry.severity == "A" and entry.has_workaround]


@only_on_the_pinned_torch
@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(entry, id=entry.name, marks=() if entry in WORST[::3] else pytest.mark.nightly)
        for entry in ROOTS
        if entry.has_workaround
    ],
)
def test_a_workaround_works(entry: Entry) -> None:
    assert workaround_problems(entry) == []


def test_most_severe_entries_have_a_tested_workaround() -> None:
    assert [entry.name for entry in SEVERE if not entry.has_workaround and not entry.no_workaround] == []
    assert sum(entry.has_workaround for entry in SEVERE) >= 0.7 * len(SEVERE)


def test_a_workaround_says_in_a_sentence_what_to_do_and_shows_the_lines() -> None:
    for entry in ROOTS:
        if entry.has_workaround:
            workaround = read_workaround(entry)
            assert workaround is not None
            assert workaround.advice.endswith("."), entry.name
            assert 1 <= len(workaround.code.splitlines()) <= 12, (entry.name, workaround.code)


@cache
def _entry(name: str) -> Entry:
    return read_entry(CORPORA / OPEN / f"{name}.py")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "strict_drops_assigned_buffer",
            """Write the new value into the buffer instead of assigning it:
    -     self.count = self.count + 1
    +     self.count.copy_(self.count + 1)""",
        ),
        (
            "strict_fails_on_checkpoint",
            """Export without strict, which is the default:
    torch.export.export(..., strict=False)""",
        ),
        (
            "export_refuses_dict_in_another_order",
            """Give the keys in the order that they had at export:
    def workaround_call(module, x):
        return module({"a": x["a"], "b": x["b"]})""",
        ),
        (
            "unflatten_ignores_eval",
            "none: the mode is fixed by export; export the model once in train mode and once in eval mode",
        ),
    ],
)
def test_the_text_of_a_workaround_shows_what_changes(name: str, text: str) -> None:
    workaround = read_workaround(_entry(name))
    assert workaround is not None and workaround.text == text


def test_a_class_with_the_same_base_is_compared_with_the_one_that_it_replaces() -> None:
    workaround = read_workaround(_entry("export_updates_constants_for_real"))
    assert workaround is not None
    assert workaround.code.splitlines() == [
        "-     self.count = torch.zeros(1)",
        '+     self.register_buffer("count", torch.zeros(1), persistent=False)',
    ]


def test_the_program_of_an_entry_is_without_its_workaround() -> None:
    text = _entry("export_leaves_containers_that_forward_changes").file.read_text(encoding="utf-8")
    rest = without_workaround(text)
    assert "make_workaround" in text and "workaround_call" in text
    assert "make_workaround" not in rest and "workaround_call" not in rest
    assert rest.count('    return expected, cache\n\n\nif __name__ == "__main__":') == 1
    assert without_workaround("not Python (") == "not Python ("


def _with(tmp_path: pathlib.Path, name: str, old: str, new: str) -> Entry:
    text = _entry(name).file.read_text(encoding="utf-8")
    assert text.count(old) == 1
    file = tmp_path / f"{name}.py"
    file.write_text(text.replace(old, new), encoding="utf-8")
    return read_entry(file)


@only_on_the_pinned_torch
def test_a_workaround_that_changes_eager_or_leaves_the_bug_is_reported(tmp_path: pathlib.Path) -> None:
    name = "strict_drops_assigned_buffer"
    other = _with(tmp_path, name, "self.count.copy_(self.count + 1)", "self.count.copy_(self.count + 2)")
    assert workaround_problems(other)[:2] == [
        "eager has other results with the workaround",
        "eager has other state with the workaround",
    ]
    same = _with(tmp_path, name, "self.count.copy_(self.count + 1)", "self.count = self.count + 1 + 0")
    assert all(problem.startswith("still differs: state mismatch") for problem in workaround_problems(same))
    assert workaround_problems(same)


def test_a_severe_entry_without_a_word_about_a_workaround_is_incomplete(tmp_path: pathlib.Path) -> None:
    entry = _entry("unflatten_ignores_eval")
    wrong = list(incomplete(replace(entry, no_workaround=""), {}, ()))
    assert 'has severity A and no workaround: "code", or "none: REASON"' in wrong
    less = replace(entry, no_workaround="", reach="occasional")
    assert 'has severity B and no workaround: "code", or "none: REASON"' in incomplete(less, {}, ())
    line = '# workaround = "none: '
    assert (
        "expected 'code' or 'none: REASON'" in _with(tmp_path, entry.name, line, '# workaround = "').problem
    )
    assert any("but not both" in each for each in incomplete(replace(entry, has_workaround=True), {}, ()))

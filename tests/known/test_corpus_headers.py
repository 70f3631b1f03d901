"""What every file of the corpus says of itself, as far as a machine can check it."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict

import pytest

from exportdiff.cli import main
from exportdiff.known.corpus.entry import BACKENDS, OPEN, VARIANTS, Entry
from exportdiff.known.corpus.first_difference import MARK, marked_lines, wrong_mark
from support.folders import CORPORA
from support.of_this_torch import PINNED
from support.the_corpus import CANDIDATES, all_causes, entries

ROOTS = {entry.name: entry for entry in entries(OPEN)}
OTHERS = {entry.name: entry for entry in entries(VARIANTS)}
ALL = {**ROOTS, **OTHERS}


def explanation(entry: Entry) -> str:
    return ast.get_docstring(ast.parse(entry.file.read_text(encoding="utf-8"))) or ""


def test_an_entry_says_how_severe_its_root_cause_is() -> None:
    assert [name for name, entry in ROOTS.items() if not entry.severity or not entry.reach_because] == []
    assert [name for name, entry in ROOTS.items() if entry.variant_of] == []
    assert [name for name, entry in ROOTS.items() if not entry.cause.endswith((".", ".)"))] == []
    long = [name for name, entry in ROOTS.items() if len(entry.reach_because.split()) > 20]
    assert long == []


def test_a_variant_names_the_entry_of_its_root_cause() -> None:
    assert {name: entry.variant_of for name, entry in OTHERS.items() if entry.variant_of not in ROOTS} == {}
    assert [name for name, entry in OTHERS.items() if entry.severity or entry.reach_because] == []
    assert not ROOTS.keys() & OTHERS.keys()


def test_a_fix_belongs_to_one_root_cause() -> None:
    """Else nobody could tell which cause a finding has that is gone with the fix."""
    causes: dict[str, set[str]] = defaultdict(set)
    for entry in ALL.values():
        if entry.fix:
            causes[entry.fix].add(entry.root)
    assert {fix: names for fix, names in causes.items() if len(names) > 1} == {}


def test_a_variant_has_the_fix_of_its_root_cause() -> None:
    """A file with another fix shows another cause, and is an entry itself."""
    others = {name: entry for name, entry in OTHERS.items() if entry.fix}
    assert [name for name, entry in others.items() if entry.fix != ROOTS[entry.variant_of].fix] == []


ALIKE = {
    "export_fails_on_module_cast_in_forward": "the conversion changes the parameter, and the fix refuses it",
    "unflatten_loses_update_by_parent": "the root writes to the state, and no child",
    "unflatten_reads_operand_of_operator_with_out": "it writes to out=, and not to its first operand",
    "unflatten_takes_mask_of_pruned_module_for_weight": "people who prune a model search for it",
}
"""Variants that show as another file does, and why each has a file."""


def test_a_variant_with_the_fix_of_its_entry_shows_otherwise() -> None:
    """What shows alike on the same path and versions, with the same fix, needs no file of its own."""
    shown = Counter(
        (entry.fix, entry.path, entry.signatures, entry.versions.on("shows"))
        for entry in ALL.values()
        if entry.fix and entry.signatures and entry.name not in ALIKE
    )
    assert [key for key, count in shown.items() if count > 1] == []


def test_every_file_was_tried_on_the_pinned_torch_and_shows_there() -> None:
    shown = {name: dict(entry.versions.rows).get(PINNED) for name, entry in ALL.items()}
    assert {name: each for name, each in shown.items() if each != "shows"} == {}


TRIED = {"2.9.1", "2.11.0", "2.13.0", "2.14.1", "2.15.0"}


def test_every_file_was_tried_on_each_version() -> None:
    missing = {name: TRIED - dict(entry.versions.rows).keys() for name, entry in ALL.items()}
    assert {name: each for name, each in missing.items() if each} == {}, "run: exportdiff corpus bisect"
    newest = re.search(
        r"^torch==(.*)$", (CORPORA.parent / "constraints-newest.txt").read_text(), re.MULTILINE
    )
    assert newest is not None and newest[1] in TRIED and PINNED in TRIED


def test_what_is_fixed_in_the_newest_torch_is_listed_apart(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(CORPORA.parent)
    assert main(["corpus", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    fixed = [cause.entry for cause in all_causes() if not cause.open]
    assert [line for line in lines if line.startswith("fixed in")] == [
        f"fixed in {each.versions.fixed_in[0]}  {each.file.relative_to(CORPORA.parent)}  {each.title}"
        for each in fixed
    ]
    bugs = [line for line in lines if line.startswith(("A  ", "B  ", "C  ")) and BACKENDS not in line]
    assert len(bugs) == len(all_causes()) - len(fixed)


def test_root_causes_are_ordered_by_severity_and_harm() -> None:
    order = [(cause.entry.severity, cause.entry.harm, cause.entry.name) for cause in all_causes()]
    harms = list(dict.fromkeys(harm for severity, harm, _ in order if severity != "A"))
    assert order == sorted(order, key=lambda each: (each[0], harms.index(each[1]), each[2]))
    assert (harms[0], harms[-1]) == ("silently wrong", "cosmetic")
    assert {cause.entry.name for cause in all_causes()} == ROOTS.keys()
    assert {each.name for cause in all_causes() for each in cause.variants} == OTHERS.keys()


def test_a_severe_entry_without_the_thread_of_its_cause_was_searched_for() -> None:
    severe = {name: entry for name, entry in ROOTS.items() if entry.severity in ("A", "B")}
    unknown = [name for name, entry in severe.items() if entry.upstream_match != "mechanism"]
    assert [name for name in unknown if not severe[name].upstream_searched] == []
    nameless = [name for name, entry in ALL.items() if entry.upstream and not entry.upstream_match]
    assert nameless == []


def test_a_patch_says_of_which_kind_it_is() -> None:
    assert [name for name, fixes in CANDIDATES.items() if len({fix.kind for fix in fixes}) != 1] == []
    kind = re.compile(r"^Kind: (mend|refuse|workaround)$", re.MULTILINE)
    patches = [fix for fixes in CANDIDATES.values() for fix in fixes]
    assert [fix.patch for fix in patches if not kind.search(fix.message)] == []


def test_an_explanation_stands_alone() -> None:
    """Who reads a report has one file, and no other entry at hand."""
    claim = re.compile(r"\b(?:cause is that of|[Ll]ikewise|do(?:es)? the same|so it is with|as well works)\b")
    texts = {name: explanation(entry) for name, entry in ALL.items()}
    named = {name: [word for word in re.findall(r"\w+", text) if word in ALL] for name, text in texts.items()}
    assert {name: words for name, words in named.items() if words} == {}
    claims = {name: claim.findall(text) for name, text in texts.items()}
    assert {name: found for name, found in claims.items() if found} == {}, (
        "name what the file shows; what it does not run may be wrong"
    )


WITHOUT_MARK = {
    "copy_of_exported_module_saves_what_does_not_persist": "the copy has a key that no model line made",
    "decompose_takes_weight_norm_of_whole_vector": "the model has no code that is not in torch",
    "export_ignores_autocast_around_it": "the model has no code that is not in torch",
    "pipeline_divides_accumulated_gradients_again": "the model has no code that is not in torch",
    "reload_forgets_conjugation": "the buffer is wrong before the first call",
    "reload_lets_gradients_into_buffer": "the buffer requires grad before the first call",
    "unflatten_hides_buffer_of_preserved_module": "the values are right: a key of the state dict is missing",
    "unflatten_reads_operand_in_preserved_module": "the values are right: the input is overwritten",
    "strict_drops_buffer_that_nothing_reads": "a name is missing before the first call",
    "strict_drops_second_name_of_buffer": "a name is missing before the first call",
}
"""Entries with a wrong value that no line of their model computes, and why."""


def test_an_entry_with_a_wrong_value_marks_the_line_where_it_first_appears() -> None:
    values = {"outputs", "inputs", "state", "gradients", "aliasing"}
    wrong = {name for name, entry in ROOTS.items() if entry.silent and entry.check in values}
    marked = {name for name, entry in ROOTS.items() if marked_lines(entry.file.read_text(encoding="utf-8"))}
    assert wrong - marked == WITHOUT_MARK.keys()
    assert marked <= wrong


def test_a_mark_belongs_to_one_line_of_the_model() -> None:
    text = (CORPORA / "open" / "strict_moves_no_grad_region_to_root.py").read_text(encoding="utf-8")
    assert wrong_mark(text) == ""
    assert wrong_mark(text.replace("return x + 1", f"return x + 1  {MARK}")) == (
        "marks 2 lines with '# first difference'; at most one is the first"
    )
    shown = "return model(*args), unflattened(*args)"
    moved = text.replace(f"  {MARK}", "").replace(shown, f"{shown}  {MARK}")
    assert "not in the code of the model" in wrong_mark(moved)

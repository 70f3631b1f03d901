"""The known bugs for people who search: ids, topics, APIs, the command and what reports name."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace

import pytest

from exportdiff.cli import main
from exportdiff.interfaces.reports.known_bug_pages import api_lines, index_lines
from exportdiff.interfaces.reports.known_bug_sheets import FULL, sheet_lines
from exportdiff.interfaces.reports.text import TEXT_WIDTH
from exportdiff.known.catalog import chosen, in_order, read_sheets, sheet_of
from exportdiff.known.corpus.apis import APIS, api_of
from exportdiff.known.corpus.entry import OPEN, VARIANTS
from exportdiff.known.corpus.ids import next_id, wrong_id
from exportdiff.known.corpus.topics import TOPICS, wrong_topics
from support.folders import CORPORA
from support.the_corpus import all_causes, entries

COPIED = re.compile(r"https://|corpora/")
ROOTS = entries(OPEN)
SHEETS = in_order(map(sheet_of, all_causes()))


def test_each_root_cause_has_an_id_that_no_other_had() -> None:
    assert [entry.name for entry in ROOTS if not entry.id] == []
    assert [entry.name for entry in entries(VARIANTS) if entry.id or entry.former_ids] == []
    used = Counter(id for entry in ROOTS for id in (entry.id, *entry.former_ids))
    assert {id: number for id, number in used.items() if number > 1} == {}


def test_the_next_id_is_after_those_that_are_mentioned_anywhere() -> None:
    assert next_id([]) == "XD001"
    assert next_id(['# id = "XD041"\n# former-ids = ["XD042", "XD007"]\n', "no id"]) == "XD043"
    assert next_id(["XD999"]) == "XD1000"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"id": "XD42"}, "has the id 'XD42' in [tool.exportdiff]; one is written XD042"),
        ({"id": "XD042", "former-ids": ["42"]}, "has the id '42'"),
        ({"id": "XD042", "variant-of": "a"}, "has 'id' and 'variant-of'"),
        ({"former-ids": ["XD042"]}, ""),
    ],
)
def test_a_wrong_id_is_named(table: dict[str, object], message: str) -> None:
    assert message in wrong_id(table)
    assert bool(message) == bool(wrong_id(table))


def test_each_root_cause_has_topics_and_each_topic_has_bugs() -> None:
    assert [entry.name for entry in ROOTS if not entry.topics] == []
    assert {topic for sheet in read_sheets(CORPORA) for topic in sheet.entry.topics} == TOPICS.keys()
    assert wrong_topics(["random", "weather"]).startswith("has topic 'weather' in [tool.exportdiff]")


@pytest.mark.parametrize(
    ("name", "api"),
    [
        ("compile_returns_a_counter_for_the_result", "compile"),
        ("pipeline_takes_no_nested_inputs", "pipeline"),
        ("swap_exchanges_results_of_modules", "swap"),
        ("unflatten_fails_on_preserved_batch_norm", "preserve"),
        ("reload_fails_on_region_without_result", "save-load"),
        ("strict_moves_no_grad_region_to_root", "unflatten"),
        ("decompose_loses_dropout_of_lstm", "run-decompositions"),
        ("todevice_makes_tied_parameters_several", "copies"),
        ("strict_drops_assigned_buffer", "strict"),
        ("export_fails_on_random_with_bounds", "export-errors"),
        ("export_reads_one_argument_for_two", "export"),
    ],
)
def test_the_api_follows_from_the_path(name: str, api: str) -> None:
    (entry,) = (each for each in ROOTS if each.name == name)
    assert api_of(entry).name == api


def test_the_pages_have_each_bug_once_with_all_that_people_ask_for() -> None:
    pages = {api.name: "\n".join(api_lines(api, SHEETS)) for api in APIS}
    headings = Counter(re.findall(r"^## (XD\d+)$", "\n".join(pages.values()), re.MULTILINE))
    assert headings == Counter(sheet.entry.id for sheet in SHEETS)
    assert [sheet.entry.name for sheet in SHEETS if sheet.program not in pages[sheet.api.name]] == []
    index = "\n".join(index_lines(SHEETS))
    assert [sheet.entry.name for sheet in SHEETS if f"#{sheet.entry.id.lower()})" not in index] == []
    assert [api.name for api in APIS if f"known-bugs/{api.name}.md)" not in index] == []


def test_what_is_fixed_in_the_newest_torch_comes_last_and_says_so() -> None:
    fixed = [sheet for sheet in SHEETS if not sheet.open]
    assert fixed == list(SHEETS[-len(fixed) :])
    lines = [line for line in index_lines(SHEETS) if "(fixed in " in line]
    assert {line.partition("]")[0].removeprefix("- [") for line in lines} == {each.entry.id for each in fixed}


def test_a_program_is_short() -> None:
    """About ten lines; the longest have custom operators, or autograd functions."""
    lengths = sorted(len(list(filter(None, sheet.program.splitlines()))) for sheet in SHEETS)
    assert lengths[len(lengths) // 2] <= 18
    assert lengths[-1] <= 40


def test_a_search_takes_an_id_a_name_or_words() -> None:
    (sheet,) = chosen(SHEETS, ["xd200"])
    assert sheet.entry.name == "strict_drops_assigned_buffer"
    assert chosen(SHEETS, ["strict_drops_assigned_buffer"]) == (sheet,)
    both = chosen(SHEETS, ["dropout", "lstm"])
    assert both == chosen(SHEETS, ["LSTM dropout"])
    assert "decompose_loses_dropout_of_lstm" in {each.entry.name for each in both}
    assert len(both) < len(chosen(SHEETS, ["dropout"]))
    assert chosen(SHEETS, ["wibble"]) == ()


def test_a_former_id_leads_to_the_entry_that_has_the_bug_now() -> None:
    merged = replace(SHEETS[0], entry=replace(SHEETS[0].entry, former_ids=("XD9999",)))
    assert chosen((merged, *SHEETS[1:]), ["XD9999"]) == (merged,)


def test_a_few_bugs_are_printed_in_full_and_many_by_title() -> None:
    for sheet in SHEETS:
        workaround = sheet.bug.workaround.text if sheet.bug.workaround else ""
        code = {line.strip() for line in f"{sheet.program}\n{workaround}".splitlines()}
        lines = "\n".join(sheet_lines([sheet])).splitlines()
        # Code, files and addresses are not cut, so that they can be copied.
        text = [line for line in lines if line.strip() not in code and not COPIED.search(line)]
        assert [line for line in text if len(line) > TEXT_WIDTH] == []
    many = "\n".join(sheet_lines(SHEETS[: FULL + 1]))
    assert SHEETS[0].entry.id in many and SHEETS[0].program not in many
    assert f"{FULL + 1} known bugs." in many


def test_the_command_prints_what_it_finds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(CORPORA.parent)
    assert main(["known", "XD200"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("XD200  ")
    for part in (
        "harm: wrong later; everyday:",
        "write instead: Write",
        "self.count.copy_(self.count + 1)",
        "thread:",
    ):
        assert part in printed
    assert main(["known", "xd200", "--json"]) == 0
    (document,) = json.loads(capsys.readouterr().out)
    assert (document["id"], document["severity"], document["api"]) == (
        "XD200",
        "A",
        "torch.export.export(strict=True)",
    )
    assert "torch.export.export" in document["program"] and document["workaround"]
    assert main(["known", "XO015", "--json"]) == 0  # a bug of a backend that need not be installed
    assert json.loads(capsys.readouterr().out)[0]["product"] == "onnx"
    assert main(["known", "wibble"]) == 1
    assert "no known bug has these words" in capsys.readouterr().err

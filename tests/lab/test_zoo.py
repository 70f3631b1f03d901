"""The zoo: judging real models, the recorded table, what is printed where a row differs."""

from __future__ import annotations

import json
import pathlib
import re
from importlib.util import find_spec
from typing import Any

import pytest
import torch

from exportdiff.cli import main
from exportdiff.core.errors import UsageError
from exportdiff.interfaces.checking.default_paths import deployed_paths
from exportdiff.lab.zoo import notes as noted
from exportdiff.lab.zoo import record as recording
from exportdiff.lab.zoo import sources
from exportdiff.lab.zoo.decoding import PROMPT, STEPS
from exportdiff.lab.zoo.differences import differences
from exportdiff.lab.zoo.families import FAMILIES
from exportdiff.lab.zoo.notes import Note
from exportdiff.lab.zoo.record import JSON, MARKDOWN, RecordedTable, read, write
from exportdiff.lab.zoo.row import Cell, ModelRow, ShownFinding
from exportdiff.lab.zoo.run import ZooSettings, judge_all
from exportdiff.lab.zoo.screening import screen
from exportdiff.lab.zoo.sources import SOURCES, ModelSource, model_named, names, source_of
from exportdiff.lab.zoo.table import markdown
from exportdiff.runtime.paths import backends
from support.folders import CORPORA

SHOWN = ShownFinding("outputs", "crash", "run", ("outputs", "crash"), ("graph_copies_keep_names",))
FINE = ModelRow(
    "export_db/a", {"strict:module": Cell("ok"), "strict:unflatten": Cell("ok", "", ("a-limit",))}
)
BAD = ModelRow(
    "transformers/b",
    {"strict:module": Cell("refused", "user-error"), "strict:unflatten": Cell("finding", findings=(SHOWN,))},
)
NEW = ModelRow(
    "transformers/c",
    {"strict:module": Cell("finding", findings=(ShownFinding("state", "mismatch", "run", ("state",)),))},
)
LOST = ModelRow("module_db/d", not_judged="cannot be built: KeyError: 'd'")
BROKEN = ModelRow("docs/e", not_judged="raises in eager: NameError", no_model="raises in eager")
IDLE = ModelRow("docs/f", not_judged="computes nothing", no_model="computes nothing")
GOOD = ModelRow("docs/g", {"nonstrict:module": Cell("ok")})


def test_rows_survive_json(tmp_path: pathlib.Path) -> None:
    record = RecordedTable({"torch": "2.13.0"}, (FINE, BAD, NEW, LOST, BROKEN))
    write(record, tmp_path / "table.json")
    assert read(tmp_path / "table.json") == record


def test_a_broken_record_is_named(tmp_path: pathlib.Path) -> None:
    (tmp_path / "table.json").write_text('{"rows": [{}], "versions": {}}')
    with pytest.raises(UsageError, match=r"table\.json is no table of the zoo .*--write"):
        read(tmp_path / "table.json")


def test_no_difference_between_equal_rows() -> None:
    assert not [*differences([FINE, BAD, LOST], [LOST, BAD, FINE])]


def test_each_kind_of_difference_is_a_line() -> None:
    changed = ModelRow(FINE.model, {**FINE.cells, "strict:module": Cell("refused", "user-error")})
    assert [*differences([FINE], [changed])] == [
        "export_db/a strict:module: recorded: ok; now: refused (user-error)"
    ]
    explained = ModelRow(NEW.model, {"strict:module": Cell("finding", findings=(SHOWN,))})
    (line,) = differences([NEW], [explained])
    assert "state mismatch (unexplained)" in line
    assert "outputs crash (graph_copies_keep_names)" in line
    judged = ModelRow(LOST.model, FINE.cells)
    assert [*differences([LOST], [judged])] == [
        "module_db/d: recorded: not judged (cannot be built: KeyError: 'd'); now: ok"
    ]
    (line,) = differences([], [BAD])
    assert line.startswith("transformers/b: not recorded yet; now: strict:module refused (user-error)")
    (line,) = differences([FINE], [])
    assert line == "export_db/a: recorded: ok; now: there is no such model"


def test_rows_judged_now_replace_the_old_ones() -> None:
    record = RecordedTable({}, (NEW, BAD, LOST, FINE))
    fresh = ModelRow("transformers/b", {"strict:module": Cell("ok")})
    rows = record.merged([fresh], {"transformers": ("transformers/b", "transformers/z")})
    # transformers/c is in its source no more; transformers/z was not judged; the others were not listed.
    assert rows == (fresh, LOST, FINE)


def test_the_table_names_every_cell_and_cause() -> None:
    text = markdown(RecordedTable({"torch": "2.13.0"}, (FINE, BAD, NEW, LOST)), CORPORA)
    assert "Made with torch 2.13.0." in text
    rows = {line.split(" | ")[0]: line for line in text.splitlines() if line.startswith("| ")}
    assert rows["| a"].endswith("| ok | ok* |")
    assert rows["| b"].endswith("| refused: user-error | outputs crash[^graph_copies_keep_names] |")
    assert "state mismatch[^unexplained]" in rows["| c"]
    assert "- module_db/d: cannot be built" in text
    assert rows["| transformers"] == "| transformers | 2 | 0 | 0 | 1 | 2 | 1 |"
    notes = re.findall(r"^\[\^(\w+)\]: (.+)", text, re.MULTILINE)
    assert [name for name, _ in notes] == ["graph_copies_keep_names", "unexplained"]
    (link,) = re.findall(r"\]\((\S+?)\)", notes[0][1])
    assert (MARKDOWN.parent / link).is_file()


def test_the_table_counts_the_examples_that_run_and_lists_equal_rows_in_a_line() -> None:
    text = markdown(RecordedTable({}, (BROKEN, IDLE, GOOD)), CORPORA)
    assert "has 3 examples of docstrings. 2 of them run in eager, and 1 of those (50 %) were judged." in text
    assert "All paths are `ok` on 1 model: g." in text
    assert "- docs/f: computes nothing" in text


def test_an_example_of_export_db_is_judged(tmp_path: pathlib.Path) -> None:
    settings = ZooSettings(CORPORA, 120.0, paths=deployed_paths()[:1])
    (judged,) = judge_all(["export_db/list_contains"], settings)
    assert judged.row == ModelRow("export_db/list_contains", {"nonstrict:module": Cell("ok")})


def test_a_finding_that_a_note_explains_is_not_looked_for_in_the_corpus(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The corpus would explain this one: the note stands in its place."""
    name, signature = "export_db/static_if", ("guards", "mismatch", "accepted")
    monkeypatch.setattr(noted, "NOTES", (Note("a_note", "why", models=(name,), signature=signature),))
    (judged,) = judge_all([name], ZooSettings(CORPORA, 120.0, paths=deployed_paths()[:1]))
    (shown,) = judged.row.cells["nonstrict:module"].findings
    assert shown.causes == ("a_note",)


def test_one_process_judges_several_models() -> None:
    """A model that shows something, and one that is no model, do not end the others."""
    names = ["docs/nn.Fold", "docs/nn.ReLU", "docs/func.jacfwd"]
    rows = screen(names, deployed_paths()[:1], CORPORA, 600)
    assert rows["docs/nn.ReLU"] == ModelRow("docs/nn.ReLU", {"nonstrict:module": Cell("ok")})
    assert rows["docs/nn.Fold"] == ModelRow(
        "docs/nn.Fold", not_judged="computes nothing", no_model="computes nothing"
    )
    assert names[2] in rows


def test_models_build_the_same_inputs_each_time() -> None:
    case = model_named("export_db/dynamic_shape_slicing").case()
    first, second = case.build(), case.build()
    assert first.model is not second.model
    assert all(map(lambda a, b: a is not b and a.equal(b), first.args, second.args))


@pytest.mark.skipif(find_spec("expecttest") is None, reason="PyTorch's module database needs expecttest")
def test_a_module_of_the_database_is_judged() -> None:
    (judged,) = judge_all(["module_db/nn.Linear"], ZooSettings(CORPORA, 120.0, paths=deployed_paths()[:1]))
    assert judged.row == ModelRow("module_db/nn.Linear", {"nonstrict:module": Cell("ok")})


@pytest.mark.skipif(find_spec("transformers") is None, reason="transformers is not installed")
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_can_be_built_and_run(family: object) -> None:
    model = model_named(f"transformers/{family.name}")  # type: ignore[attr-defined]
    built = model.case().build()
    assert built.model(*built.args, **built.kwargs) is not None


@pytest.mark.skipif(find_spec("transformers") is None, reason="transformers is not installed")
def test_a_model_that_decodes_gives_what_the_whole_text_gives() -> None:
    """The steps of the decoder are those of the model without a cache."""
    built = model_named("decoding/llama").case().build()
    decoder: Any = built.model.decoder
    assert len(built.probes) == PROMPT + STEPS
    with torch.no_grad():
        steps = [built.model(*probe.args, **probe.kwargs)[:, -1] for probe in built.probes]
        text = torch.cat([probe.kwargs["input_ids"] for probe in built.probes], 1)
        whole = decoder.model(text).logits
    torch.testing.assert_close(torch.stack(steps, 1), whole)


class TestPathsOfBackends:
    """The paths of the source ``decoding``: two of torch, two of ExecuTorch."""

    ROW = ModelRow("decoding/llama", {"nonstrict:module": Cell("ok"), "executorch:portable": Cell("ok")})
    FRESH = ModelRow("decoding/llama", {"nonstrict:module": Cell("refused", "data-dependent")})

    def test_cells_of_a_backend_that_is_not_installed_stay(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(backends, "lacking", lambda name: (name,) if name == "executorch" else ())
        assert source_of("decoding").usable_paths == ("nonstrict:module", "nonstrict:unflatten")
        listed = {"decoding": (self.ROW.model,)}
        (row,) = RecordedTable({}, (self.ROW,)).merged([self.FRESH], listed)
        assert row.cells == {**self.ROW.cells, **self.FRESH.cells}

    def test_others_are_replaced(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(backends, "is_mode", lambda name: True)
        monkeypatch.setattr(backends, "lacking", lambda name: ())
        listed = {"decoding": (self.ROW.model,)}
        assert RecordedTable({}, (self.ROW,)).merged([self.FRESH], listed) == (self.FRESH,)


def test_names_are_unique_and_sources_listed() -> None:
    for source in SOURCES:
        if source.name not in ("module_db", "operators"):  # what they import changes this process
            listed = names(source.name)
            assert len(set(listed)) == len(listed)
            assert all(name.startswith(f"{source.name}/") for name in listed)
    assert len(FAMILIES) >= 25


class TestCommand:
    @pytest.fixture(autouse=True)
    def checkout(self, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Run in a folder with an empty corpus, and record there."""
        (tmp_path / "corpora").mkdir()
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(recording, "JSON", tmp_path / "recorded.json")
        monkeypatch.setattr(recording, "MARKDOWN", tmp_path / "README.md")

    def test_write_then_compare(self, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
        command = ["zoo", "--models", "export_db/list_unpack", "--workers", "1"]
        assert main(command) == 1
        assert "export_db/list_unpack: not recorded yet" in capsys.readouterr().out
        assert main([*command, "--write"]) == 0
        assert "wrote 1 rows" in capsys.readouterr().out
        assert "All paths are `ok` on 1 model: list_unpack." in (tmp_path / "README.md").read_text()
        assert main(command) == 0
        assert capsys.readouterr().out == "1 models are as recorded\n"
        document = json.loads((tmp_path / "recorded.json").read_text())
        document["rows"][0]["cells"]["strict:module"] = {"status": "refused", "reason": "user-error"}
        (tmp_path / "recorded.json").write_text(json.dumps(document))
        assert main(command) == 1
        wanted = "export_db/list_unpack strict:module: recorded: refused (user-error); now: ok\n"
        assert capsys.readouterr().out == wanted

    def test_a_missing_package_is_named(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        absent = ModelSource("absent", "", ("no_such_package",), SOURCES[0].models)
        monkeypatch.setattr(sources, "SOURCES", (absent,))
        assert main(["zoo"]) == 2
        wanted = "exportdiff zoo: no_such_package not installed; pip install 'exportdiff[zoo]'\n"
        assert capsys.readouterr().err == wanted

    def test_a_family_that_does_not_exist_is_named(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["zoo", "--families", "docs,ops"]) == 2
        wanted = "--families docs,ops: there is no ops; there are transformers, decoding, passing"
        assert wanted in capsys.readouterr().err
        assert main(["zoo", "--resume"]) == 2
        assert "--resume continues what --write began: give both" in capsys.readouterr().err

    def test_resume_judges_only_what_the_table_lacks(self, capsys: pytest.CaptureFixture[str]) -> None:
        command = ["zoo", "--models", "export_db/list_unpack", "--workers", "1", "--write"]
        recording.write(RecordedTable({}, (ModelRow("export_db/list_unpack"),)), recording.JSON)
        assert main([*command, "--resume", "--families", "export_db"]) == 0
        assert "1/1" not in capsys.readouterr().err

    def test_write_keeps_the_versions_of_other_sources(self) -> None:
        recording.write(RecordedTable({"other": "1.0"}, (ModelRow("docs/nn.ReLU"),)), recording.JSON)
        assert main(["zoo", "--models", "export_db/list_unpack", "--workers", "1", "--write"]) == 0
        assert recording.read(recording.JSON).versions["other"] == "1.0"

    def test_a_pattern_that_matches_nothing_is_named(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["zoo", "--models", "export_db/nothing"]) == 2
        assert "--models export_db/nothing: no model matches" in capsys.readouterr().err

    def test_without_a_corpus_it_says_where_to_run(
        self, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "corpora").rmdir()
        assert main(["zoo"]) == 2
        assert "run the command in a checkout" in capsys.readouterr().err


def test_what_is_committed_is_one_table() -> None:
    """The JSON and the Markdown beside it say the same, a column is there for every path, and each finding
    has a cause.
    """
    record = read(JSON)
    assert not [row.model for row in record.rows if row.unexplained]
    of_tables = ("docs/", "operators/")
    assert not [row.model for row in record.rows if row.not_judged and not row.model.startswith(of_tables)]
    assert MARKDOWN.read_text(encoding="utf-8") == markdown(record, CORPORA)
    assert all(row.cells.keys() <= set(source_of(row.model).paths) for row in record.rows)

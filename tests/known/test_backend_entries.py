"""The corpus files of backends: what their headers say, and what happens where a backend is not installed."""

from __future__ import annotations

import pytest

from exportdiff.cli import main
from exportdiff.core.programs import tag_names
from exportdiff.known.corpus.entry import BACKENDS, find_files, lacking_for, missing_functions, read_entry
from exportdiff.known.corpus.trigger import unknown
from exportdiff.runtime.paths import backends
from support.folders import CORPORA

FILES = sorted((CORPORA / BACKENDS).rglob("*.py"))


def test_each_file_has_a_complete_header() -> None:
    entries = [read_entry(file) for file in FILES]
    assert len(entries) >= 4 and [entry.problem for entry in entries if entry.problem] == []
    ids = [entry.id for entry in entries]
    assert len(set(ids)) == len(ids) and not any(each.startswith("XD") for each in ids)
    for entry in entries:
        assert entry.severity and entry.cause and entry.at_fault, entry.name
        assert entry.trigger or entry.undetected_because, entry.name
        assert not list(unknown(entry.trigger, tag_names())), entry.name  # else it explains nothing
        assert entry.has_workaround or entry.no_workaround, entry.name
        assert entry.path.startswith(f"{entry.file.parent.name}:"), entry.name
        source = entry.file.read_text(encoding="utf-8")
        assert not missing_functions(source), entry.name
        packages = backends.packages(entry.file.parent.name)
        assert all(f'"{name}==' in source for name in packages), entry.name


def test_files_of_a_backend_that_is_not_installed_are_skipped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(backends, "lacking", lambda name: (f"{name}_runtime",))
    assert lacking_for(FILES[0]) == (f"{FILES[0].parent.name}_runtime",)
    assert not set(FILES) & set(find_files([CORPORA]))
    assert main(["replay", str(FILES[0])]) == 0
    assert "skipped" in (said := capsys.readouterr().out) and "_runtime: not installed here" in said
    monkeypatch.setattr(backends, "lacking", lambda name: ())
    assert set(FILES) <= set(find_files([CORPORA]))

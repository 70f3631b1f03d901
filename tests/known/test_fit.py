"""Trying the fixes of a corpus on a torch: what mends, what is fixed upstream, what campaigns then use."""

from __future__ import annotations

import json
import os
import pathlib
import sys
from collections.abc import Iterator

import pytest

from exportdiff.cli import main
from exportdiff.known.attribution.knowledge import digest_of_corpus, knowledge
from exportdiff.known.corpus import left_out, recorded_texts
from exportdiff.known.corpus.trial_results import fix_trials, untried_fixes
from exportdiff.runtime.patching import touched
from exportdiff.runtime.patching.source import source_of
from support.folders import CORPORA
from support.of_this_torch import only_on_the_pinned_torch

CODE = "def wrong():\n    return 3\n\n\ndef other():\n    return 1\n"

ENTRY = """\
# /// script
# [tool.exportdiff]
# status = "open"
# path = "nonstrict:module@cpu"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "FIX"
# ///
import sys

import torch


def make():
    return torch.nn.Identity(), (torch.ones(1),)


if __name__ == "__main__":
    sys.path.insert(0, FOLDER)
    import importlib
    code = importlib.import_module("PACKAGE.code")
    SHOWS
"""

BUG = "sys.exit(code.wrong() != 1)"

PATCH = """\
Count rightly

Fits: 0.1
---
--- a/PACKAGE/code.py
+++ b/PACKAGE/code.py
@@ -1,2 +1,2 @@
 def wrong():
-    return 3
+    return RIGHT
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def corpora(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pathlib.Path]:
    """Write a package that has a bug, and an empty corpus."""
    package = f"tried_{tmp_path.name}"
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text("")
    (tmp_path / package / "code.py").write_text(CODE)
    (tmp_path / "corpora" / "open").mkdir(parents=True)
    (tmp_path / "corpora" / "fixes").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    # The children find the package as this process does.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "corpora"
    for name in (package, f"{package}.code"):
        sys.modules.pop(name, None)
    knowledge.cache_clear()


def write(corpora: pathlib.Path, fix: str, patch: str = PATCH, shows: str = BUG, entry: str = "") -> None:
    package = f"tried_{corpora.parent.name}"
    name = fix.partition("@")[0]
    (corpora / "fixes" / f"{fix}.patch").write_text(patch.replace("PACKAGE", package))
    text = ENTRY.replace("FIX", name).replace("FOLDER", repr(str(corpora.parent)))
    text = text.replace("PACKAGE", package).replace("SHOWS", shows)
    (corpora / "open" / f"{entry or 'shows_' + name}.py").write_text(text)


def fit(capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, dict[str, dict[str, object]]]:
    capsys.readouterr()
    code = main(["corpus", "fit", "--json", "--workers", "1", *more])
    rows = json.loads(capsys.readouterr().out)["fixes"]
    return code, {row["name"]: row for row in rows}


MENDS = PATCH.replace("RIGHT", "1")
RAISES = PATCH.replace("RIGHT", "other().gone")
ELSEWHERE = PATCH.replace("RIGHT", "1").replace("    return 3", "    return 4")


def untried_names(corpora: pathlib.Path) -> tuple[str, ...]:
    return tuple(trial.name for trial in untried_fixes(corpora))


def test_fit_says_which_fixes_mend_their_entries(
    corpora: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(corpora, "mends", MENDS)
    write(corpora, "raises", RAISES)
    write(corpora, "elsewhere", ELSEWHERE)
    write(corpora, "done", MENDS, shows="sys.exit(0)")
    write(corpora, "half", MENDS)
    write(corpora, "half", MENDS, shows="sys.exit(0)", entry="passes")
    write(corpora, "crashes", MENDS, shows="raise KeyError('gone')")
    assert set(untried_names(corpora)) == {"mends", "raises", "elsewhere", "done", "half", "crashes"}
    # Before the trial a fix counts if it fits.
    assert set(knowledge(corpora).fixes) == {"mends", "raises", "done", "half", "crashes"}
    code, rows = fit(capsys)
    assert code == 1
    assert {name: row["status"] for name, row in rows.items()} == {
        "mends": "usable",
        "raises": "does not mend",
        "elsewhere": "does not fit",
        "done": "fixed upstream",
        "half": "usable",
        "crashes": "not tried",
    }
    assert "AttributeError" in str(rows["raises"]["detail"])
    assert rows["half"]["fixed"] == ["passes"]
    assert untried_names(corpora) == ()
    knowledge.cache_clear()
    known = knowledge(corpora)
    assert set(known.fixes) == set(known.usable) == {"mends", "half"}
    # Entries that pass explain nothing; the others may, by resemblance.
    assert {entry.file.stem for entry in known.entries} == {
        f"shows_{name}" for name in ("mends", "raises", "elsewhere", "half", "crashes")
    }
    assert known.unusable >= {"raises", "elsewhere", "crashes"}


KILLS = {
    "itself": "os.kill(os.getpid(), signal.SIGKILL)",
    "the fork server": "(os.kill(os.getppid(), signal.SIGKILL), time.sleep(60))",
}


@pytest.mark.parametrize("killed", ["itself", pytest.param("the fork server", marks=pytest.mark.nightly)])
def test_a_trial_that_was_killed_says_nothing_and_is_not_kept(
    corpora: pathlib.Path, capsys: pytest.CaptureFixture[str], killed: str
) -> None:
    """As when somebody ends the command, or memory is short."""
    write(
        corpora,
        "mends",
        MENDS,
        shows=f"import os, signal, time; code.wrong() == 3 and sys.exit(1); {KILLS[killed]}",
    )
    assert fit(capsys)[1]["mends"]["status"] == "not tried"
    assert untried_names(corpora) == ("mends",)
    write(corpora, "mends", MENDS)
    assert fit(capsys)[1]["mends"]["status"] == "usable"


def test_only_what_changed_is_tried_again(corpora: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(corpora, "one", MENDS)
    write(corpora, "two", MENDS)
    assert fit(capsys)[0] == 0
    rows = {each.name: each.file for each in fix_trials(corpora)}
    write(corpora, "two", RAISES)
    again = {each.name: each for each in fix_trials(corpora)}
    assert again["one"].file == rows["one"] and again["one"].result is not None
    assert again["two"].file != rows["two"] and again["two"].result is None
    # What an entry says of itself is no reason to try it again; what it does is.
    entry = corpora / "open" / "shows_one.py"
    entry.write_text(entry.read_text().replace("# status", '# title = "new"\n# status'))
    assert {each.name: each for each in fix_trials(corpora)}["one"].file == rows["one"]
    entry.write_text(entry.read_text().replace("sys.exit(", "sys.exit(0 + "))
    assert {each.name: each for each in fix_trials(corpora)}["one"].file != rows["one"]
    entry.write_text(entry.read_text().replace("sys.exit(0 + ", "sys.exit("))
    # A patch for a newer torch is one more candidate; it is not chosen, because the plain one fits.
    write(corpora, "one@99.1", RAISES)
    code, found = fit(capsys)
    assert code == 1
    assert (found["one"]["status"], found["one"]["patch"]) == ("usable", "one.patch")
    # That for an older torch is nearer.
    write(corpora, "one@2.1", RAISES)
    assert fit(capsys)[1]["one"]["patch"] == "one@2.1.patch"


@pytest.mark.nightly
def test_fit_tries_the_torch_of_another_interpreter(
    corpora: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(corpora, "mends", MENDS)
    assert main(["corpus", "fit", "--torch", sys.executable, "--all"]) == 0
    assert "usable" in capfd.readouterr().out
    # It wrote the rows of that torch, which is this one.
    assert untried_names(corpora) == ()
    assert main(["corpus", "fit", "--torch", "no/python"]) == 2
    error = capfd.readouterr().err
    assert "no/python" in error and error.count("\n") == 1


def test_a_release_that_a_patch_names_needs_no_trial(
    corpora: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(corpora, "named", MENDS)
    assert untried_names(corpora) == ("named",)
    monkeypatch.setattr("exportdiff.known.corpus.recorded_texts.torch_version", lambda: "0.1")
    assert untried_names(corpora) == ()


def test_an_edited_torch_tries_again_the_fixes_of_edited_functions(
    corpora: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The version of a torch does not say that its files were edited."""
    monkeypatch.setattr(recorded_texts, "torch_version", lambda: "0.1")
    monkeypatch.setattr(recorded_texts, "torch_folder", lambda: corpora.parent / "torch")
    monkeypatch.setattr(left_out, "torch_folder", lambda: corpora.parent / "torch")
    code = corpora.parent / f"tried_{corpora.parent.name}" / "code.py"
    monkeypatch.setattr(left_out, "torch_digest", code.read_text)
    code.write_text(CODE.replace("return 3\n", "return 3\n\n\ndef between():\n    pass\n"))
    write(corpora, "mends", MENDS)
    second = PATCH.replace("1,2", "9,2").replace("wrong", "other").replace("return 3", "return 1")
    write(corpora, "second", second.replace("RIGHT", "2"))
    texts = recorded_texts.texts_to_record(corpora)
    (corpora / "fixes" / recorded_texts.RECORD).write_text(json.dumps(texts))
    assert untried_names(corpora) == () and main(["corpus", "list"]) == 0
    assert capsys.readouterr().err == ""

    def after(edited: str) -> tuple[tuple[str, ...], str]:
        recorded_texts._digest.cache_clear()
        source_of.cache_clear()
        touched._functions.cache_clear()
        code.write_text(edited)
        main(["corpus", "list"])
        return untried_names(corpora), capsys.readouterr().err

    text = code.read_text()
    assert after(text.replace("pass", "return 5")) == ((), "")
    assert after(text.replace("def wrong():", "@print\ndef wrong():")) == (("mends",), "")
    assert after(text.replace("return 3", "return 4")) == (
        ("mends",),
        "1 of 2 fixes of known bugs does not fit this torch and is left out: mends\n",
    )


def test_results_of_trials_are_cached_by_the_content_of_torch(
    corpora: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(corpora, "mends", MENDS)
    assert fit(capsys)[0] == 0 and untried_names(corpora) == ()
    before = digest_of_corpus(corpora)
    monkeypatch.setattr("exportdiff.known.corpus.trial_results.torch_digest", lambda: "another")
    assert untried_names(corpora) == ("mends",)
    monkeypatch.setattr("exportdiff.known.attribution.knowledge.torch_digest", lambda: "another")
    assert digest_of_corpus(corpora) != before


@only_on_the_pinned_torch
def test_the_texts_that_fixes_change_are_recorded() -> None:
    recorded = json.loads((CORPORA / "fixes" / recorded_texts.RECORD).read_text())
    command = "python -m exportdiff.known.corpus.recorded_texts corpora"
    assert recorded == recorded_texts.texts_to_record(CORPORA), f"write the file again: {command}"


@pytest.mark.nightly
def test_fuzz_and_faults_try_the_fixes_first_where_nobody_has(
    corpora: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(corpora, "mends", MENDS)
    write(corpora, "raises", RAISES)
    fuzz = ["fuzz", "--examples", "1", "--workers", "1", "--paths", "nonstrict:module", "--minimize", "0"]
    fuzz += ["--seed", "3"]  # whose first program shows no bug of torch
    fuzz += ["--corpora", str(corpora), "--out", str(corpora.parent / "out")]
    assert main(fuzz) == 0
    told = capsys.readouterr().out
    assert "trying 2 fixes of known bugs on torch" in told
    assert "1 usable, 1 does not mend" in told
    assert untried_names(corpora) == ()
    assert main(fuzz) == 0
    assert "trying" not in capsys.readouterr().out
    write(corpora, "raises", MENDS)
    faults = [
        "faults",
        "--fault",
        "in_place_operators_are_removed_as_dead_code",
        "--examples",
        "1",
        "--workers",
        "1",
    ]
    main(faults)
    assert "trying 1 fix of known bugs" in capsys.readouterr().out
    assert untried_names(corpora) == ()

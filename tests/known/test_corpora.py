"""Replays the corpus: with the pinned torch, every file does what its header says.

On another torch, what the trial of the fixes has shown decides which files can.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
from collections.abc import Iterator
from functools import cache, partial
from statistics import median

import pytest

from exportdiff.cli.replay import outcome
from exportdiff.core.program_text.line_count import code_lines
from exportdiff.core.programs import tag_names
from exportdiff.known.corpus.entry import find_files, read_entry
from exportdiff.known.corpus.signatures import entry_signatures
from exportdiff.known.corpus.verify import incomplete
from exportdiff.known.corpus.workaround import without_workaround
from exportdiff.runtime.patching.fixes import applied, read_fixes
from exportdiff.runtime.processes.script import RAISED
from support.failing_torch import torch_that_fails
from support.folders import CORPORA
from support.forked_scripts import ForkedScripts
from support.of_this_torch import (
    HERE,
    PINNED,
    held,
    skip_unless_here,
    skip_unless_this_processor_runs,
    skip_unless_tried,
    skip_unless_usable,
)

FILES = list(find_files([CORPORA]))

FIXES = read_fixes(CORPORA / "fixes")

entry_of = cache(read_entry)


@pytest.fixture(scope="module")
def plain() -> Iterator[ForkedScripts]:
    """Run files on plain torch, in processes where nothing has run."""
    scripts = ForkedScripts()
    yield scripts
    scripts.end()


@pytest.fixture(scope="module")
def failing() -> Iterator[ForkedScripts]:
    """Run files on a torch that fails, in processes of their own: its module imports further ones."""
    scripts = ForkedScripts()
    yield scripts
    scripts.end()


@pytest.fixture(scope="module")
def mended() -> Iterator[ForkedScripts]:
    """Run files with their fixes held."""
    scripts = ForkedScripts(held())
    yield scripts
    scripts.end()


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(CORPORA)))
def test_a_file_is_as_recorded(file: pathlib.Path, plain: ForkedScripts) -> None:
    entry = entry_of(file)
    assert not entry.problem, f"{file} {entry.problem}"
    skip_unless_here(entry)
    word, detail = outcome(entry, plain.run(file))
    # For a file that is FIXED, `detail` names the command to run; for a BROKEN file, this message does.
    assert word == "as recorded", f"{file}: {word} {detail}\nsee also: exportdiff corpus verify {file}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(CORPORA)))
def test_another_error_is_not_the_bug_of_a_file(file: pathlib.Path, failing: ForkedScripts) -> None:
    skip_unless_this_processor_runs(file)
    run = failing.run(file, torch_that_fails)
    # Python would exit with 1; what the file sets as the first thing exits with 3 instead.
    assert (run.code, run.last_line[:12]) == (RAISED, "AnotherError")
    assert _FIRST_LINES in file.read_text(encoding="utf-8")


_FIRST_LINES = """
if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
"""


def test_a_file_exits_with_3_after_another_error(tmp_path: pathlib.Path) -> None:
    text = (CORPORA / "seeds" / "pr_137013.py").read_text(encoding="utf-8")
    file = tmp_path / "file.py"
    file.write_text(text.replace("    expected, got = show()", "    raise KeyError('another error')"))
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "KeyError: 'another error'" in done.stderr


ENTRIES = [entry_of(file) for file in find_files([CORPORA / "open", CORPORA / "variants"])]

SIGNATURES_WITHOUT_FIX = [start for entry in ENTRIES if not entry.fix for start in entry.signatures]

SEEDS = list(find_files([CORPORA / "seeds"]))

OPEN = [entry.file for entry in ENTRIES if not entry.undetected_because]


@pytest.mark.parametrize("file", OPEN, ids=lambda file: file.stem)
def test_the_checks_report_an_open_bug_with_the_signatures_in_its_header(file: pathlib.Path) -> None:
    """Without fixes, each signature in the header is the beginning of a finding's signature.

    (On another torch, functions have other names: one finding of the same check and kind is enough.)

    With all fixes in place, no finding has a signature of this entry. New findings may appear only if the
    header lists them as unmasked, or an entry without a fix explains them.
    """
    entry = entry_of(file)
    skip_unless_usable(entry)
    found = entry_signatures(file, entry.path, thorough=entry.shows_after_refusal)
    remaining = entry_signatures(file, entry.path, held(), thorough=entry.shows_after_refusal)
    for start in entry.signatures:
        shown = start if HERE == PINNED else start[:2]
        assert any(_begins(signature, shown) for signature in found), (start, found)
        assert not entry.fix or not any(_begins(signature, start) for signature in remaining), start
    allowed = (*SIGNATURES_WITHOUT_FIX, *entry.unmasked)
    assert not [
        signature for signature in remaining - found if not any(map(partial(_begins, signature), allowed))
    ]


@pytest.mark.parametrize("file", SEEDS, ids=lambda file: file.stem)
def test_the_fixes_break_no_seed(file: pathlib.Path) -> None:
    skip_unless_tried()
    for path in {"nonstrict:unflatten@cpu", entry_of(file).path}:
        assert entry_signatures(file, path, held()) <= entry_signatures(file, path)


def _begins(signature: tuple[str, ...], start: tuple[str, ...]) -> bool:
    return signature[: len(start)] == start


@pytest.mark.parametrize("file", [file for file in OPEN if entry_of(file).fix], ids=lambda file: file.stem)
def test_an_open_entry_passes_with_its_fix(file: pathlib.Path, mended: ForkedScripts) -> None:
    entry = entry_of(file)
    skip_unless_usable(entry)
    run = mended.run(file, partial(applied, (FIXES[entry.fix],)))
    assert run.code == 0, run.problem or run.last_line


def test_open_entries_are_complete_and_short() -> None:
    lengths = []
    for entry in ENTRIES:
        wrong = list(incomplete(entry, FIXES, tag_names()))
        assert not wrong, f"{entry.file}: {wrong}"
        lengths.append(code_lines(without_workaround(entry.file.read_text())))
    assert median(lengths) <= 22


def test_every_fix_belongs_to_an_entry() -> None:
    assert {entry.fix for entry in ENTRIES if entry.fix} == set(FIXES)

"""Replays the corpus: with the pinned torch, every file does what its header says.

On another torch, what the trial of the fixes has shown decides which files can.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from statistics import median

import pytest

from exportdiff.cli.replay import outcome
from exportdiff.core.program_text.line_count import code_lines
from exportdiff.core.programs import tag_names
from exportdiff.known.corpus.entry import Entry, find_files
from exportdiff.known.corpus.signatures import entry_signatures
from exportdiff.known.corpus.verify import incomplete
from exportdiff.known.corpus.workaround import without_workaround
from exportdiff.runtime.patching.fixes import applied
from exportdiff.runtime.paths import parse
from exportdiff.runtime.processes.child import Death
from exportdiff.runtime.processes.in_child import call_fresh
from exportdiff.runtime.processes.script import RAISED, Run, run_file
from support.failing_torch import torch_that_fails
from support.folders import CORPORA
from support.of_this_torch import (
    HERE,
    PINNED,
    held,
    skip_unless_here,
    skip_unless_this_processor_runs,
    skip_unless_tried,
    skip_unless_usable,
)
from support.scripts_in_turn import ScriptsInTurn
from support.the_corpus import CANDIDATES, FILES, all_fixes, entries, entry_of

PART = 24
"""Files that one test runs, in one process."""


def parts(files: Sequence[pathlib.Path]) -> pytest.MarkDecorator:
    """Give a test ``files``, PART of them at a time."""
    every = [files[start : start + PART] for start in range(0, len(files), PART)]
    return pytest.mark.parametrize("files", every, ids=[part[0].stem for part in every])


def without_skipped(files: Sequence[pathlib.Path], skip: Callable[[Entry], None]) -> Iterator[Entry]:
    """Yield the entries that ``skip`` does not skip."""
    for file in files:
        with suppress(pytest.skip.Exception):
            skip(entry_of(file))
            yield entry_of(file)


def is_recorded(entry: Entry, run: Run) -> bool:
    return outcome(entry, run)[0] == "as recorded"


ENTRIES = entries()

WORST = [entry.file for entry in ENTRIES if entry.severity == "A"]
VARIANTS = [entry.file for entry in ENTRIES if entry.variant_of]


@parts([*WORST, *[file for file in FILES if file not in (*WORST, *VARIANTS)][::3]])
def test_files_are_as_recorded(files: Sequence[pathlib.Path]) -> None:
    """In one process: a file that is not as recorded runs again in its own."""
    wrong = []
    with ScriptsInTurn() as scripts:
        for entry in without_skipped(files, skip_unless_here):
            run = scripts.run(entry.file, fine=partial(is_recorded, entry))
            wrong += [] if is_recorded(entry, run) else [(entry.file, *outcome(entry, run))]
    # For a file that is FIXED, the last text names the command to run.
    assert not wrong, "see also: exportdiff corpus verify FILE"


@pytest.mark.nightly
@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(CORPORA)))
def test_a_file_is_as_recorded_where_nothing_has_run(file: pathlib.Path) -> None:
    entry = entry_of(file)
    assert not entry.problem, f"{file} {entry.problem}"
    skip_unless_here(entry)
    assert is_recorded(entry, run_file(file))


def test_every_file_begins_with_what_makes_other_errors_exit_with_3() -> None:
    assert not [file for file in FILES if _FIRST_LINES not in file.read_text(encoding="utf-8")]


@pytest.mark.nightly
def test_another_error_is_not_the_bug_of_a_file() -> None:
    """Python would exit with 1; what the file sets as the first thing exits with 3 instead."""
    wrong = []
    with ScriptsInTurn() as scripts:
        for entry in without_skipped(FILES, lambda entry: skip_unless_this_processor_runs(entry.file)):
            run = scripts.run(entry.file, torch_that_fails, fine=raises_another_error)
            wrong += [] if raises_another_error(run) else [(entry.file, run)]
    assert not wrong


def raises_another_error(run: Run) -> bool:
    return (run.code, run.last_line[:12]) == (RAISED, "AnotherError")


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


SIGNATURES_WITHOUT_FIX = [start for entry in ENTRIES if not entry.fix for start in entry.signatures]

SEEDS = list(find_files([CORPORA / "seeds"]))

OPEN = [entry.file for entry in ENTRIES if not entry.undetected_because]


def examples_of_kinds() -> set[pathlib.Path]:
    """Return the first entry of each mode and check, whatever the transforms and the runner."""
    first: dict[tuple[str, str], pathlib.Path] = {}
    for entry in ENTRIES:
        if not entry.undetected_because:
            mode = parse(entry.path).mode
            first.setdefault((mode, entry.check), entry.file)
    return set(first.values())


EXAMPLES = examples_of_kinds()


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, marks=() if file in EXAMPLES else pytest.mark.nightly, id=file.stem)
        for file in OPEN
    ],
)
def test_the_checks_report_an_open_bug_with_the_signatures_in_its_header(file: pathlib.Path) -> None:
    """Without fixes, each signature in the header is the beginning of a finding's signature.

    (On another torch, functions have other names: one finding of the same check and kind is enough.)

    A bug that ends the process is shown by a process of its own.

    With all fixes in place, no finding has a signature of this entry. New findings may appear only if the
    header lists them as unmasked, or an entry without a fix explains them.
    """
    entry = entry_of(file)
    skip_unless_usable(entry)
    if entry.kind == "abort":
        died = call_fresh(120.0, entry_signatures, file, entry.path)
        assert isinstance(died, Death)
        assert entry.signatures == (("alive", "abort", died.reason),)
        return
    found: set[tuple[str, ...]] = set()
    thorough = entry.shows_after_refusal
    # To compile for all calls that leave the spec takes five times as long; few bugs show in these alone.
    for thorough in (entry.shows_after_refusal, True):
        found = entry_signatures(file, entry.path, thorough=thorough)
        if all(any(_begins(signature, start) for signature in found) for start in entry.signatures):
            break
    remaining = entry_signatures(file, entry.path, held(), thorough=thorough)
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


FIXED = [file for file in OPEN if entry_of(file).fix]


@pytest.mark.parametrize(
    "files",
    [
        [file for file in FIXED if file in EXAMPLES],
        pytest.param([file for file in FIXED if file not in EXAMPLES], marks=pytest.mark.nightly),
    ],
    ids=["examples", "others"],
)
def test_open_entries_pass_with_their_fixes(files: Sequence[pathlib.Path]) -> None:
    """The fixes of ``EXAMPLES`` each time."""
    wrong = []
    with ScriptsInTurn([all_fixes()[entry_of(file).fix] for file in files]) as scripts:
        for entry in without_skipped(files, skip_unless_usable):
            fix = all_fixes()[entry.fix]
            run = scripts.run(entry.file, partial(applied, (fix,)), fine=lambda run: run.code == 0)
            wrong += [] if run.code == 0 else [(entry.file, run.problem or run.last_line)]
    assert not wrong


def test_open_entries_are_complete_and_short() -> None:
    lengths = []
    for entry in ENTRIES:
        wrong = list(incomplete(entry, all_fixes(), tag_names()))
        assert not wrong, f"{entry.file}: {wrong}"
        lengths.append(code_lines(without_workaround(entry.file.read_text())))
    assert median(lengths) <= 23


def test_every_fix_belongs_to_an_entry() -> None:
    assert {entry.fix for entry in ENTRIES if entry.fix} == CANDIDATES.keys()

"""Scripts of the structure check agree with the check, on plain torch and with the fix installed."""

from __future__ import annotations

import pathlib
import warnings

import pytest

from exportdiff.core.case import case_from_source
from exportdiff.core.finding import Finding
from exportdiff.judging.verdict import judge
from exportdiff.known.corpus.entry import Entry
from exportdiff.repro import repro_source
from exportdiff.repro.program import program_of
from exportdiff.runtime.patching.fixes import applied
from exportdiff.runtime.paths import select_paths
from support.in_process import run_script
from support.of_this_torch import skip_unless_usable
from support.the_corpus import all_fixes, entries

ENTRIES = [entry for entry in entries() if entry.check == "structure"]


def found(entry: Entry, source: str) -> tuple[Finding, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return judge(case_from_source(source), select_paths([entry.path]), ["structure"]).findings


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(entry, marks=[pytest.mark.nightly] if number % 6 else [], id=entry.name)
        for number, entry in enumerate(ENTRIES)
    ],
)
def test_a_script_shows_what_the_check_reports(entry: Entry, tmp_path: pathlib.Path) -> None:
    skip_unless_usable(entry)
    source = program_of(entry.file.read_text(encoding="utf-8"))
    findings = found(entry, source)
    assert findings
    for number, finding in enumerate(findings):
        file = tmp_path / f"repro_{number}.py"
        file.write_text(repro_source(finding, source))
        assert run_script(file)[0] is True
        with applied((all_fixes()[entry.fix],)):
            still = finding.signature in {each.signature for each in found(entry, source)}
            assert run_script(file)[0] is still
        # Without the program: the header, the functions and the script.
        assert len(file.read_text().splitlines()) - len(source.splitlines()) < 125

"""People read what to write instead next to the known bug that explains a finding."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from exportdiff.interfaces.checking.found import Found
from exportdiff.interfaces.checking.report import Report
from exportdiff.interfaces.python_api import explanation
from exportdiff.interfaces.reports.model_report import print_report
from exportdiff.judging.results import PathResult
from exportdiff.known.attribution.explained import KnownCause
from exportdiff.known.corpus.entry import OPEN, read_entry
from exportdiff.known.corpus.known_bug import known_bug
from exportdiff.runtime.paths import parse
from support.evidence_of import make_finding
from support.folders import CORPORA

PATH = parse("strict:module@cpu")
TEXT = """\
workaround: Write the new value into the buffer instead of assigning it:
    -     self.count = self.count + 1
    +     self.count.copy_(self.count + 1)
"""


def _report(*names: str) -> Report:
    finding = replace(make_finding("value"), path=PATH, shown_on=(PATH,))
    entries = [read_entry(CORPORA / OPEN / f"{name}.py") for name in names]
    causes = tuple(KnownCause(entry.fix, entry.name, known_bug(entry)) for entry in entries)
    result = PathResult(PATH, "finding", outcome="differs")
    return Report("model.py:make", "2.13.0", (result,), found=(Found(finding, causes),))


def test_the_workaround_is_below_the_known_bug() -> None:
    report = _report("strict_drops_assigned_buffer")
    output = io.StringIO()
    print_report(report, Console(file=output), "any", None)
    assert f"\nknown bug of torch: strict_writes_back_assigned_buffers\n{TEXT}" in output.getvalue()
    assert "\n".join(f"    {line}" for line in TEXT.splitlines()) in explanation(report, "any")
    assert report.found[0].as_dict()["workaround"] == TEXT.removeprefix("workaround: ").rstrip()


def test_without_a_workaround_the_text_says_why() -> None:
    (found,) = _report("unflatten_ignores_eval").found
    assert found.workarounds == (
        "none: the mode is fixed by export; export the model once in train mode and once in eval mode",
    )
    (found,) = _report("compile_returns_a_counter_for_the_result").found
    assert (found.workarounds, found.as_dict()["workaround"]) == ((), None)


def test_a_root_cause_carries_what_its_entry_says() -> None:
    (found,) = _report("strict_drops_assigned_buffer").found
    (cause,) = found.causes
    assert cause.bug is not None
    assert cause.bug.title and cause.bug.cause.startswith("Export does not replay side effects")
    assert "2.13.0" in cause.bug.affected and cause == KnownCause(cause.name, cause.entry)

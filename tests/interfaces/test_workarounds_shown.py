"""People read what to write instead next to the known bug that explains a finding."""

from __future__ import annotations

import io
import textwrap
from dataclasses import replace

from rich.console import Console

from exportdiff.core.first_difference import FirstDifference
from exportdiff.interfaces.checking.found import UNDECIDED, Found
from exportdiff.interfaces.checking.report import Report
from exportdiff.interfaces.python_api import explanation
from exportdiff.interfaces.reports.known_bug_lines import KnownBugLines
from exportdiff.interfaces.reports.model_report import print_report
from exportdiff.judging.results import PathResult
from exportdiff.known.attribution.explained import UNRESOLVED, KnownCause
from exportdiff.known.corpus.entry import OPEN, read_entry
from exportdiff.known.corpus.known_bug import KnownBug, known_bug
from exportdiff.known.corpus.versions import NOT_TRIED, versions
from exportdiff.runtime.paths import parse
from support.evidence_of import make_finding
from support.folders import CORPORA

PATH = parse("strict:module@cpu")
TRIED = versions({"2.9.1": "other", "2.13.0": "shows"})
WHY = """\
known bug of torch XD200: torch.export(strict=True): self.count = self.count + 1
  never updates the buffer
  why: For Dynamo, an assignment is a side effect of Python, and export does not
    replay these. There is only a general warning that "certain side effects
    happened". For a buffer, export should write the new value back, as
    non-strict export does.
  how sure: the finding goes away with a fix of this bug
  versions: tried on 2.9.1: fails in another way; on 2.13.0: shows
  thread: https://github.com/pytorch/pytorch/issues/111676 (the same symptom)
  read more: strict_drops_assigned_buffer
"""
TEXT = """\
workaround: Write the new value into the buffer instead of assigning it:
    -     self.count = self.count + 1
    +     self.count.copy_(self.count + 1)
"""


def _report(*names: str) -> Report:
    finding = replace(make_finding("value"), path=PATH, shown_on=(PATH,))
    entries = [read_entry(CORPORA / OPEN / f"{name}.py") for name in names]
    bugs = {entry: replace(known_bug(entry), versions=TRIED) for entry in entries}
    causes = tuple(KnownCause(entry.fix, entry.name, bugs[entry]) for entry in entries)
    result = PathResult(PATH, "finding", outcome="differs")
    return Report("model.py:make", "2.13.0", (result,), found=(Found(finding, causes),))


def test_the_workaround_is_below_the_known_bug() -> None:
    report = _report("strict_drops_assigned_buffer")
    output = io.StringIO()
    print_report(report, Console(file=output), "any", None)
    assert f"\n{WHY}{TEXT}" in output.getvalue()
    assert textwrap.indent(TEXT, "    ") in f"{explanation(report, 'any')}\n"
    assert report.found[0].as_dict()["workaround"] == TEXT.removeprefix("workaround: ").rstrip()


def test_without_a_workaround_the_text_says_why() -> None:
    (found,) = _report("unflatten_ignores_eval").found
    assert found.workarounds == (
        "none: the mode is fixed by export; export the model once in train mode and once in eval mode",
    )
    (found,) = _report("compile_returns_a_copy_of_a_chunk").found
    assert (found.workarounds, found.as_dict()["workaround"]) == ((), None)


def test_a_root_cause_carries_what_its_entry_says() -> None:
    (found,) = _report("strict_drops_assigned_buffer").found
    (cause,) = found.causes
    assert cause.bug is not None
    assert cause.bug.title and cause.bug.cause.startswith("For Dynamo, an assignment is a side effect")
    assert "2.13.0" in cause.bug.versions.on("shows") and cause == KnownCause(cause.name, cause.entry)


def test_the_line_to_change_is_that_of_the_user() -> None:
    (found,) = _report("strict_drops_assigned_buffer").found
    place = FirstDifference(0, "child", 1, "aten.add", "folder/net.py", 14, "self.ema = 2 * self.ema")
    lines = list(KnownBugLines(None).of(found.at(place)))
    assert lines[-3].startswith("workaround (here net.py:14): Write the new value")
    # This workaround does not change the line at which the value is first wrong.
    (found,) = _report("reload_makes_tied_parameters_several").found
    assert "net.py" not in "".join(KnownBugLines(None).of(found.at(place)))


def test_a_bug_is_described_once() -> None:
    (found,) = _report("strict_drops_assigned_buffer").found
    bugs = KnownBugLines(None)
    assert len(list(bugs.of(found))) > 8
    assert list(bugs.of(found)) == [
        "known bug of torch XD200: torch.export(strict=True): self.count = self.count + 1\n"
        "  never updates the buffer (see above)"
    ]


def test_bugs_are_named_if_it_is_not_known_which_of_them_are_necessary() -> None:
    (found,) = _report("strict_drops_assigned_buffer", "reload_makes_tied_parameters_several").found
    assert next(KnownBugLines(None).of(found)) == "2 known bugs together:"
    undecided = replace(found, causes=(replace(UNRESOLVED, candidates=found.causes),))
    assert not undecided.decided and undecided.known
    text = "\n".join(KnownBugLines(None).of(undecided))
    assert text.startswith("known bugs: one of these, or several of them together\n")
    assert all(f"[{cause.root}]" in text for cause in found.causes)
    document = undecided.as_dict()
    assert document["root_causes"] == [cause.root for cause in found.causes]
    assert {each["sure"] for each in document["known_bugs"]} == {UNDECIDED}


def test_a_known_bug_says_when_its_thread_was_searched_for() -> None:
    thread = "https://github.com/pytorch/pytorch/issues/1"
    bug = KnownBug("title", "cause", NOT_TRIED, "", None)

    def lines(bug: KnownBug) -> list[str]:
        found = Found(make_finding("value"), (KnownCause("a_fix", "an_entry", bug),), by="fix")
        return list(KnownBugLines(None).of(found))

    assert "  thread: a search found none" in lines(bug)
    bug = replace(bug, upstream_searched="2026-11-26")
    assert "  thread: not found in the search of 2026-11-26" in lines(bug)
    bug = replace(bug, upstream=thread, upstream_match="place", defended=f"{thread}: it is meant")
    assert f"  thread: {thread} (the same place)" in lines(bug)
    assert f"  defended by PyTorch: {thread}: it is meant" in lines(bug)


def test_the_text_names_only_versions_that_were_tried() -> None:
    tried = versions({"2.15.0": "fixed", "2.9.1": "cannot run", "2.13.0": "shows", "2.11.0": "shows"})
    bug = KnownBug("title", "cause", tried, "", None)
    found = Found(make_finding("value"), (KnownCause("a_fix", "an_entry", bug),), by="resemblance")
    text = " ".join("\n".join(KnownBugLines(None).of(found)).split())
    assert "how sure: the finding resembles this bug" in text
    words = "tried on 2.9.1: cannot run; on 2.11.0 and 2.13.0: shows; on 2.15.0: does not show"
    assert f" versions: {words} " in text
    assert bug.as_dict()["versions"] == dict(tried.rows)
    not_tried = replace(found, causes=(KnownCause("a_fix", "an_entry", replace(bug, versions=NOT_TRIED)),))
    assert "versions:" not in "\n".join(KnownBugLines(None).of(not_tried))

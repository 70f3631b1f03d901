"""What ``exportdiff check`` prints: short lines, each refusal once, and what to do next."""

from __future__ import annotations

import pathlib
from dataclasses import replace

import pytest
import torch

import exportdiff
from exportdiff.cli import main
from exportdiff.core.finding import Finding, Kind
from exportdiff.interfaces.checking.found import Found
from exportdiff.interfaces.checking.report import Report
from exportdiff.interfaces.reports.model_report import report_text
from exportdiff.interfaces.reports.text import TEXT_WIDTH, wrapped
from exportdiff.judging.results import Outcome, PathResult, Status
from exportdiff.known.attribution.explained import KnownCause
from exportdiff.runtime.paths import parse
from support.evidence_of import make_finding

pytestmark = pytest.mark.usefixtures("no_known_bugs")

MODULE, UNFLATTEN, STRICT = map(parse, ("nonstrict:module", "nonstrict:unflatten", "strict:module"))
SAID = "UserError: Consider annotating your code.\nThis word must not be broken: " + "x" * 30


def result(number: int, outcome: Outcome, **more: str) -> PathResult:
    status: dict[Outcome, Status] = {"agrees": "ok", "differs": "finding", "refused": "unsupported"}
    path = (MODULE, UNFLATTEN, STRICT)[number]
    return PathResult(path, status.get(outcome, "ok"), outcome=outcome, **more)  # type: ignore[arg-type]


def finding(signature: str, check: str = "outputs", kind: Kind = "mismatch") -> Finding:
    made = make_finding(signature, check=check, kind=kind, message="differs " + "and so on " * 20)
    return replace(made, path=UNFLATTEN, shown_on=(UNFLATTEN,))


AGREES = result(0, "agrees")
DIFFERS = result(1, "differs")
WRONG = Found(finding("value"))
KNOWN = Found(finding("value"), (KnownCause("a_fix", "an_entry"),))
ACCEPTED = Found(finding("value"), accepted=True)
REFUSED = tuple(
    result(n, "refused", reason="dynamo-unsupported", message=SAID, source="docs/source/export.md")
    for n in range(3)
)
CORPUS = pathlib.Path("corpora")


def lines(report: Report) -> list[str]:
    return report_text(report, "any", CORPUS).splitlines()


def made(
    *paths: PathResult, found: tuple[Found, ...] = (), name: str = "model.py:make", **more: str
) -> Report:
    return Report(name, "2.13.0", paths, found=found, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("report", "last"),
    [
        (made(AGREES), "next: judge all paths (this takes minutes): exportdiff check model.py:make --all"),
        (
            made(AGREES, name="Model"),
            'next: judge all paths (this takes minutes): exportdiff.compare(..., paths="all")',
        ),
        (
            made(DIFFERS, found=(WRONG,)),
            "exportdiff check model.py:make --paths 'nonstrict:unflatten' --minimize 60s",
        ),
        (
            made(DIFFERS, found=(WRONG,), name="Model"),
            'exportdiff.compare(..., accept="accepted.json")',
        ),
        (made(DIFFERS, found=(KNOWN,)), "corpora/open/an_entry.py"),
        (made(*REFUSED), "next: change the model as the messages say, or try other paths: exportdiff paths"),
        (made(invalid="eager raises"), "next: correct the model or its inputs, and check it again"),
        (
            made(AGREES, stopped="the time limit was reached"),
            "next: give it more time, e.g. --limit 30m, or fewer paths with --paths",
        ),
        (made(), "next: choose other paths: exportdiff paths"),
    ],
)
def test_the_last_line_says_what_to_do_next(report: Report, last: str) -> None:
    assert lines(report)[-1].endswith(last)


@pytest.mark.parametrize(
    "report",
    [made(AGREES, DIFFERS, found=(WRONG,)), made(*REFUSED), made(AGREES, *REFUSED[1:], found=(KNOWN,))],
)
def test_lines_fit_and_words_are_whole(report: Report) -> None:
    text = report_text(report, "any", CORPUS)
    words = {"x" * 30, "UserError:", "dynamo-unsupported"} if REFUSED[1] in report.paths else set()
    assert words <= set(text.replace("(dynamo-unsupported):", "dynamo-unsupported").split())
    for line in text.splitlines():
        assert len(line) <= TEXT_WIDTH or "exportdiff" in line, line


def test_a_refusal_is_printed_once_with_its_paths() -> None:
    text = report_text(made(*REFUSED), "any", CORPUS)
    assert text.count("Consider annotating your code") == 1
    assert "torch refuses 3 paths (nonstrict:module, nonstrict:unflatten and strict:module)" in text
    assert "documented: docs/source/export.md" in text
    assert "was not judged: all 3 paths refuse it" in text


def test_the_outcomes_are_repeated_below_the_findings() -> None:
    text = lines(made(AGREES, DIFFERS, REFUSED[2], found=(WRONG,)))
    below = text[text.index("$ exportdiff check model.py:make --paths 'nonstrict:unflatten'") :]
    assert "1 path (nonstrict:unflatten) differs from eager" in below
    assert any("1 of 3 paths agree with eager, 1 refused; 1 finding" in line for line in below)


@pytest.mark.parametrize(
    ("found", "counts"),
    [
        (finding("value"), "values agree on 1 of 2 paths, metadata on 2 of 2, structure on 2 of 2"),
        (
            finding("names", "structure"),
            "values agree on 2 of 2 paths, metadata on 2 of 2, structure on 1 of 2",
        ),
        (finding("dtype", "fake"), "values agree on 2 of 2 paths, metadata on 1 of 2, structure on 2 of 2"),
        (
            finding("raises", kind="crash"),
            "values agree on 1 of 2 paths, metadata on 1 of 2, structure on 1 of 2",
        ),
    ],
)
def test_values_metadata_and_structure_are_counted_separately(found: Finding, counts: str) -> None:
    assert counts in lines(made(AGREES, DIFFERS, found=(Found(found, accepted=True),)))


def test_wrapped_lines_keep_their_indent() -> None:
    assert wrapped("  one two three", 10) == "  one two\n    three"
    assert wrapped("x" * 30, 10) == "x" * 30


MODEL = """\
from typing import NamedTuple

import torch


class Pair(NamedTuple):
    a: torch.Tensor


class Model(torch.nn.Module):
    def forward(self, x):
        if x.shape[0] > 9:
            raise ValueError("too large")
        return [x] if torch.compiler.is_exporting() else Pair(x)


def make():
    return Model(), (torch.ones(2),)


def large():
    return Model(), (torch.ones(20),)
"""


def test_names_and_lines_are_those_of_the_user(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """TARGET may follow the patterns of --paths."""
    file = tmp_path / "two_words.py"
    file.write_text(MODEL)
    assert main(["check", "--paths", "nonstrict:m*", f"{file}:make"]) == 1
    assert "<class 'two_words.Pair'>" in capsys.readouterr().out
    assert main(["check", "--json", "--paths", "nonstrict:m*", f"{file}:large", "--limit", "5m"]) == 2
    assert "eager raised ValueError in call 0: too large (two_words.py, line 13)" in capsys.readouterr().err


@pytest.mark.parametrize("paths", [["nonstrict:*"], ["nonstrict:*", "strict:module"], []])
def test_a_missing_target_is_one_line(paths: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *(["--paths", *paths] if paths else [])]) == 2
    assert "TARGET is missing: write FILE.py:NAME" in capsys.readouterr().err


def test_a_report_prints_what_the_command_prints(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "model.py"
    file.write_text("import torch\n\ndef make():\n    return torch.nn.ReLU(), (torch.ones(2),)\n")
    assert main(["check", f"{file}:make", "--paths", "nonstrict:*"]) == 0
    printed = capsys.readouterr().out
    report = exportdiff.compare(torch.nn.ReLU(), (torch.ones(2),), paths="nonstrict:*")
    ours, theirs = (" ".join(text.partition("\nnext: ")[0].split()) for text in (str(report), printed))
    assert ours == theirs.replace(f"{file}:make", "ReLU")

"""What explains a finding, and what does not: fixes that fail, refusals, entries that it resembles."""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import pathlib
import sys
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType

import pytest

from exportdiff.core.case import Case, case_from_source
from exportdiff.core.finding import Finding, Stage
from exportdiff.core.path import Path
from exportdiff.judging.results import PathResult, Verdict
from exportdiff.known.attribution.attribute import explain
from exportdiff.known.attribution.explained import ExplainedFinding, KnownCause
from exportdiff.known.attribution.knowledge import Knowledge, knowledge
from exportdiff.known.attribution.resemblance import shows_as
from exportdiff.known.attribution.residual import ResidualFinding, sort_residual_findings
from exportdiff.known.corpus.trigger import triggered, unknown
from exportdiff.runtime.paths import parse
from support.evidence_of import make_finding

SOURCE = "def wrong():\n    state = True\n    return state\n"
MODULE = "nonstrict:module@cpu"
SPECIAL = "def make():\n    return squeeze_(flip(ones(2)))\n"
CASE = case_from_source(SPECIAL)

Judge = Callable[..., Verdict]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield
    knowledge.cache_clear()


@pytest.fixture
def code(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Write a module with a bug, and a corpus without a fix for it."""
    package = f"resembled_{tmp_path.name}"
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text("")
    (tmp_path / package / "code.py").write_text(SOURCE)
    (tmp_path / "corpora" / "open").mkdir(parents=True)
    (tmp_path / "corpora" / "fixes").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module(f"{package}.code")
    for name in (package, f"{package}.code"):
        del sys.modules[name]


def corpus(tmp_path: pathlib.Path, code: ModuleType, new: str, base: str = SOURCE) -> Knowledge:
    """Return a corpus with one entry, whose fix changes a line of the function."""
    path = code.__name__.replace(".", "/") + ".py"
    before, after = (t.splitlines(keepends=True) for t in (base, base.replace("    return state\n", new)))
    diff = "".join(difflib.unified_diff(before, after, f"a/{path}", f"b/{path}"))
    (tmp_path / "corpora" / "fixes" / "mends.patch").write_text(f"Mend it\n\nFits: 0.1\n---\n{diff}")
    write_entry(tmp_path, "shows", SPECIAL)
    write_entry(tmp_path, "other", "def make():\n    return cumsum(rand(3))\n", fix="there_is_none")
    return knowledge(tmp_path / "corpora")


def write_entry(
    tmp_path: pathlib.Path, name: str, program: str, fix: str = "mends", path: str = "nonstrict:unflatten@cpu"
) -> None:
    how = f'fix = "{fix}"' if fix else 'trigger = ["op.flip"]'
    (tmp_path / "corpora" / "open" / f"{name}.py").write_text(
        f'# /// script\n# [tool.exportdiff]\n# status = "open"\n# path = "{path}"\n'
        f'# signatures = [["outputs", "mismatch", "value"]]\n# {how}\n# ///\n{program}'
    )


def judging(code: ModuleType, refuses: str = "") -> Judge:
    """Make a judge: the path is wrong, right, raises what the function raises, or refuses for a reason."""

    def judge(case: Case, paths: Sequence[Path], refusals: object = ()) -> Verdict:
        found: tuple[Finding, ...] = ()
        try:
            found = (make_finding("value", path=MODULE),) if code.wrong() else ()
        except NameError as error:
            crash = make_finding(type(error).__name__, path=MODULE, kind="crash")
            return Verdict(True, "", (PathResult(parse(MODULE), "finding"),), (crash,), 0.0)
        if found:
            return Verdict(True, "", (PathResult(parse(MODULE), "finding"),), found, 0.0)
        status = PathResult(parse(MODULE), "unsupported" if refuses else "ok", refuses)
        return Verdict(True, "", (status,), (), 0.0)

    return judge


def explained(known: Knowledge, judge: Judge, case: Case = CASE) -> ExplainedFinding:
    (part,) = explain(case, judge(case, ()), (), known, judge)
    return part


def test_a_fix_explains_what_it_mends(tmp_path: pathlib.Path, code: ModuleType) -> None:
    part = explained(corpus(tmp_path, code, "    return False\n"), judging(code))
    assert (part.causes, part.by) == ((KnownCause("mends", "shows"),), "fix")


def test_a_fix_that_raises_explains_nothing(tmp_path: pathlib.Path, code: ModuleType) -> None:
    """It can be put in place, and the finding is gone; in its place stands an exception of the fix."""
    known = corpus(tmp_path, code, "    del state\n    return state\n")
    assert set(known.fixes) == {"mends"}
    assert explained(known, judging(code)).causes == ()


@pytest.mark.parametrize(("reason", "causes"), [("mends", 1), ("dynamo-unsupported", 0)])
def test_a_refusal_explains_if_the_fix_declares_it(
    tmp_path: pathlib.Path, code: ModuleType, reason: str, causes: int
) -> None:
    known = corpus(tmp_path, code, "    return False\n")
    assert len(explained(known, judging(code, refuses=reason)).causes) == causes


MISFIT = SOURCE.replace("state = True", "state = bool(1)")


def test_an_entry_explains_by_resemblance_if_its_fix_does_not_fit(
    tmp_path: pathlib.Path, code: ModuleType
) -> None:
    known = corpus(tmp_path, code, "    return False\n", base=MISFIT)
    assert not known.fixes and known.unusable == {"mends"}
    part = explained(known, judging(code))
    assert (part.causes, part.by) == ((KnownCause("mends", "shows"),), "resemblance")
    mended = judging(code)(CASE, ())
    (left,) = sort_residual_findings(CASE, mended, (), known, judging(code))
    assert isinstance(left, ExplainedFinding) and left.by == "resemblance"


@pytest.mark.parametrize(
    "program",
    [
        "def make():\n    return squeeze_(ones(2))\n",
        "def make():\n    return cumsum(rand(3))\n",  # the entry of a fix that no corpus has
    ],
)
def test_a_program_without_what_the_entry_needs_does_not_resemble_it(
    tmp_path: pathlib.Path, code: ModuleType, program: str
) -> None:
    known = corpus(tmp_path, code, "    return False\n", base=MISFIT)
    case = case_from_source(program)
    assert explained(known, judging(code), case).causes == ()
    (left,) = sort_residual_findings(case, judging(code)(case, ()), (), known, judging(code))
    assert isinstance(left, ResidualFinding) and left.classification.kind == "new"


@pytest.mark.parametrize(
    ("words", "path"),
    [(("shape",), MODULE), (("value",), "strict:module@cpu"), (("value",), "nonstrict+reload:module@cpu")],
)
def test_what_shows_in_another_way_does_not_resemble(
    tmp_path: pathlib.Path, code: ModuleType, words: tuple[str, ...], path: str
) -> None:
    known = corpus(tmp_path, code, "    return False\n", base=MISFIT)
    found = Verdict(True, "", (), (make_finding(*words, path=path),), 0.0)
    (part,) = explain(CASE, found, (), known, lambda *_: found)
    assert part.causes == ()


@pytest.mark.parametrize(
    ("path", "causes"), [("nonstrict+archived:module@cpu", 1), ("nonstrict+deepcopy:module@cpu", 0)]
)
def test_an_entry_explains_paths_whose_transforms_include_its_own(
    tmp_path: pathlib.Path, path: str, causes: int
) -> None:
    """A program in an archive is saved and loaded as well."""
    (tmp_path / "corpora" / "open").mkdir(parents=True)
    write_entry(tmp_path, "shows", SPECIAL, fix="", path="nonstrict+reload:module@cpu")
    found = Verdict(True, "", (), (make_finding("value", path=path),), 0.0)
    (part,) = explain(CASE, found, ("op.flip",), knowledge(tmp_path / "corpora"), lambda *_: found)
    assert len(part.causes) == causes


@pytest.mark.parametrize(
    ("of_entry", "path", "stage", "causes"),
    [
        (MODULE, "onnx:program@cpu", "export", 1),
        (MODULE, "onnx:program@cpu", "lower", 0),
        (MODULE, "strict:module@cpu", "export", 0),
        ("nonstrict+decompose:module@cpu", "onnx:program@cpu", "lower", 1),
        ("nonstrict+decompose:module@cpu", "onnx:program@cpu", "run", 0),
        ("nonstrict+decompose:module@cpu", "torchao:observed@cpu", "lower", 0),
        ("executorch:portable@cpu", "onnx:program@cpu", "export", 0),
    ],
)
def test_an_entry_explains_what_the_same_function_of_torch_shows_on_a_backend(
    tmp_path: pathlib.Path, of_entry: str, path: str, stage: Stage, causes: int
) -> None:
    (tmp_path / "corpora" / "open").mkdir(parents=True)
    write_entry(tmp_path, "shows", SPECIAL, fix="", path=of_entry)
    found = Verdict(True, "", (), (make_finding("value", path=path, stage=stage),), 0.0)
    (part,) = explain(CASE, found, ("op.flip",), knowledge(tmp_path / "corpora"), lambda *_: found)
    assert len(part.causes) == causes


@pytest.mark.parametrize(
    ("trigger", "tags", "has_all"),
    [
        (["a"], ["a", "b"], True),
        (["a", "b"], ["a"], False),
        (["a|b"], ["b"], True),
        (["a|b", "c"], ["a", "b"], False),
        (["in.*|c"], ["in.d"], True),
        (["in.*"], ["in", "out.in.d"], False),
    ],
)
def test_a_trigger_names_tags_alternatives_and_patterns(
    trigger: list[str], tags: list[str], has_all: bool
) -> None:
    assert triggered(trigger, tags) is has_all


def test_each_part_of_a_trigger_must_match_a_tag() -> None:
    assert list(unknown(["a|b.*", "c"], ["a", "b.d"])) == ["c"]
    assert list(unknown(["a|e.*"], ["a", "b.d"])) == ["e.*"]


@pytest.mark.parametrize(
    ("of_entry", "word", "explains"),
    [
        (MODULE, "structure", True),
        (MODULE, "value", True),
        ("nonstrict+decompose:module@cpu", "structure", True),
        ("nonstrict+decompose:module@cpu", "value", False),
        ("executorch:unplanned@cpu", "structure", False),
        ("executorch:unplanned@cpu", "value", False),
    ],
)
def test_the_outputs_of_a_backend_are_those_of_the_exported_program(
    tmp_path: pathlib.Path, of_entry: str, word: str, explains: bool
) -> None:
    (tmp_path / "corpora" / "fixes").mkdir(parents=True)
    (tmp_path / "corpora" / "open").mkdir()
    write_entry(tmp_path, "shows", SPECIAL, fix="", path=of_entry)
    (entry,) = knowledge(tmp_path / "corpora").entries
    entry = dataclasses.replace(entry, signatures=(("outputs", "mismatch", word),))
    finding = make_finding(word, path="onnx:program@cpu")
    assert shows_as(entry, finding) is explains

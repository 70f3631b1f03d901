"""A baseline accepts what it was written for, and nothing that only looks like it."""

from __future__ import annotations

import json
import math
import pathlib
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import exportdiff
from exportdiff.core.errors import UsageError
from exportdiff.core.finding import Consequence, Evidence, Finding, ShownOn
from exportdiff.core.model_identity import ModelIdentity
from exportdiff.interfaces.checking.accepting import no_longer_shown, with_accepted
from exportdiff.interfaces.checking.baseline import acceptance, read_baseline, write_baseline
from exportdiff.interfaces.checking.found import Found
from exportdiff.interfaces.checking.identifying import identity
from exportdiff.interfaces.checking.report import Report
from exportdiff.judging.checks.compare.leaves import LeafDifference, compare_leaf
from exportdiff.judging.checks.compare.tolerance import default_tolerance
from exportdiff.judging.checks.outputs import OutputLeaf, OutputStructure, PathRaised
from exportdiff.judging.checks.state import StateLeaf
from exportdiff.judging.checks.structure.translation import StepDiffers
from exportdiff.judging.results import PathResult
from exportdiff.known.attribution.explained import UNRESOLVED, KnownCause
from exportdiff.runtime.observing.failure import Failure
from exportdiff.runtime.observing.python_values import python_value
from exportdiff.runtime.observing.tensors import snapshot
from exportdiff.runtime.paths import parse

MODULE, UNFLATTEN = parse("nonstrict:module@cpu"), parse("nonstrict:unflatten@cpu")
MODEL = ModelIdentity("/project/models.py", "make", "Net", "0123456789")


def leaf(apart: float, scale: float = 1.0) -> LeafDifference:
    """Return how a tensor of four elements differs if one of them does."""
    eager = torch.full((4,), scale, dtype=torch.float64)
    here = eager.clone()
    here[1] += apart
    found = compare_leaf(snapshot(eager), snapshot(here))
    assert found is not None
    return replace(found, word="value")


def output(apart: float = 1e-6, call: int = 0, place: str = "[0]", scale: float = 1.0) -> OutputLeaf:
    return OutputLeaf(call, place, "fresh", leaf(apart, scale))


def buffer(apart: float = 1e-6, name: str = "mean") -> StateLeaf:
    return StateLeaf(0, name, "buffer", leaf(apart))


def stride(seen: str) -> OutputLeaf:
    return OutputLeaf(0, "", "fresh", LeafDifference("stride", "[4, 1]", seen))


def raised(message: str) -> PathRaised:
    return PathRaised(Failure("run", ("builtins.KeyError",), message, ("graph.py:run",)), 0)


def step(seen: str) -> StepDiffers:
    return StepDiffers(("operands",), None, 3, "add(x, y) in the root", seen)


def number(seen: float) -> OutputLeaf:
    found = compare_leaf(python_value(3.0), python_value(seen))
    assert found is not None
    return OutputLeaf(0, "[1]", "fresh", found)


def found(evidence: Evidence, *more: Evidence, check: str = "outputs", **fields: Any) -> Found:
    rest = tuple(Consequence("state", each) for each in more)
    return Found(Finding(UNFLATTEN, check, evidence, consequences=rest), **fields)


def report(*every: Found, model: ModelIdentity | None = MODEL) -> Report:
    paths = tuple(PathResult(path, "finding") for path in (MODULE, UNFLATTEN))
    return Report("models.py:make", "2.13.0", paths, found=every, model=model)


ROOT, OTHER = KnownCause("fix", "one_bug"), KnownCause("fix", "another_bug")
Change = Callable[[], tuple[Report, Report]]


def on_both(here: Evidence, there: Evidence) -> Found:
    shown = (ShownOn(UNFLATTEN, here), ShownOn(MODULE, there))
    return Found(Finding(UNFLATTEN, "outputs", here).showing(shown))


BEFORE_AND_AFTER: dict[str, tuple[Found, Found]] = {
    "a much larger difference": (found(output(1e-6)), found(output(1000.0))),
    "a difference that is 11 times as large": (found(output(1e-6)), found(output(1.1e-5))),
    "as large, of a much smaller tensor": (found(output(1e-6)), found(output(1e-6, scale=1e-3))),
    "NaN instead of a small difference": (found(output(1e-6)), found(output(math.nan))),
    "another call": (found(output()), found(output(call=1))),
    "another output": (found(output()), found(output(place="[1]"))),
    "another buffer": (found(buffer(), check="state"), found(buffer(name="var"), check="state")),
    "a further output": (found(output()), found(output(), output(place="[1]"))),
    "a further buffer": (found(output()), found(output(), buffer(1000.0))),
    "a further difference that grew": (found(output(), buffer(1e-6)), found(output(), buffer(1.0))),
    "another property": (found(output()), found(stride("[1, 4]"))),
    "other strides": (found(stride("[1, 4]")), found(stride("[8, 1]"))),
    "another structure": (
        found(OutputStructure(0, "a list", "a tuple")),
        found(OutputStructure(0, "a list", "a dict")),
    ),
    "another message": (found(raised("'a'")), found(raised("'b'"))),
    "another step of the graph": (found(step("add(x, x)")), found(step("add(y, y)"))),
    "another Python number": (found(number(3.1)), found(number(1000.0))),
    "another known bug": (found(output(), causes=(ROOT,)), found(output(), causes=(OTHER,))),
    "a further known bug": (found(output(), causes=(ROOT,)), found(output(), causes=(ROOT, OTHER))),
    "a new bug that looks the same": (found(output(), causes=(ROOT,)), found(output())),
    "a probe": (found(output()), Found(Finding(UNFLATTEN, "outputs", output(), probe=True))),
    "another check": (found(output()), found(output(), check="aliasing")),
    "another path": (found(output()), Found(Finding(MODULE, "outputs", output()))),
    "the size of another path": (on_both(output(1.0), output(1e-6)), on_both(output(1.0), output(1.0))),
}


def accepted(before: Report, after: Report, tmp_path: pathlib.Path) -> list[bool]:
    """Write a baseline for one report, and return which findings of another it accepts."""
    file = tmp_path / "accepted.json"
    write_baseline(file, before)
    entries = read_baseline(file).of(after.model)
    return [each.accepted for each in with_accepted(after, entries).found]


@pytest.mark.parametrize("name", list(BEFORE_AND_AFTER))
def test_what_only_looks_like_an_accepted_finding_fails(name: str, tmp_path: pathlib.Path) -> None:
    before, after = BEFORE_AND_AFTER[name]
    assert accepted(report(before), report(before), tmp_path) == [True]
    assert False in accepted(report(before), report(after), tmp_path)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (found(output(1e-6)), found(output(9e-6))),
        (found(output(1e-6)), found(output(1e-9))),
        (found(output(math.inf)), found(output(math.nan))),
        (found(output(), causes=(ROOT,)), found(output(), searched=False)),
        (found(output(), causes=(ROOT,)), found(output(), causes=(UNRESOLVED,))),
        (found(output()), found(output(), causes=(ROOT,))),
        (found(output(), buffer()), found(output())),
        (found(number(3.1)), found(number(3.1000001))),
    ],
)
def test_the_same_finding_is_accepted_again(before: Found, after: Found, tmp_path: pathlib.Path) -> None:
    assert accepted(report(before), report(after), tmp_path) == [True]


@pytest.mark.parametrize(
    "other",
    [
        replace(MODEL, name="make_other"),
        replace(MODEL, file="/project/other/models.py"),
        replace(MODEL, class_name="Other"),
        replace(MODEL, file="", name="", state="9876543210"),
        replace(MODEL, file="", name="", class_name="Other"),
        None,
    ],
)
def test_a_baseline_of_another_model_accepts_nothing(
    other: ModelIdentity | None, tmp_path: pathlib.Path
) -> None:
    one = report(found(output()))
    assert accepted(one, replace(one, model=other), tmp_path) == [False]
    # Only by the class and the state, if one of the two was given as an object.
    assert accepted(one, replace(one, model=replace(MODEL, file="", name="")), tmp_path) == [True]
    baseline = read_baseline(tmp_path / "accepted.json")
    assert "accepts nothing of this model" in baseline.about_others(other)
    assert not baseline.about_others(MODEL)


def test_it_says_why_a_finding_is_not_accepted(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "accepted.json"
    write_baseline(file, report(found(output(1e-6), causes=(ROOT,))))
    because = {
        found(
            output(1.0), causes=(ROOT,)
        ): "1 apart (1 of the largest element); the baseline accepts at most "
        "1e-05 apart (1e-05 of the largest element)",
        found(output()): "the baseline accepts it as one_bug; now: no known bug explains it",
        found(output(), buffer(), causes=(ROOT,)): "the baseline does not have: after call 0: buffer mean "
        "differs in value",
    }
    for each, expected in because.items():
        (marked,) = with_accepted(report(each), read_baseline(file).of(MODEL)).found
        assert (marked.not_accepted_because, marked.accepted) == (expected, False)


def test_a_file_has_several_models_and_keeps_what_people_wrote(tmp_path: pathlib.Path) -> None:
    file, other = tmp_path / "accepted.json", replace(MODEL, name="make_other")
    write_baseline(file, report(found(output())))
    document = json.loads(file.read_text())
    document["accepted"][0]["because"] = "issue 12"
    file.write_text(json.dumps(document))
    write_baseline(file, report(found(buffer(), check="state"), model=other))
    write_baseline(file, report(found(output(2e-6))))
    entries = json.loads(file.read_text())["accepted"]
    assert [(each["model"]["name"], each["because"]) for each in entries] == [
        ("make_other", ""),
        ("make", "issue 12"),
    ]
    assert entries[1]["differences"][0]["at_most"]["absolute"] == pytest.approx(2e-5)
    assert accepted(report(), report(found(output(1e-5))), tmp_path) == [
        False
    ]  # nothing is accepted any more


def test_the_project_may_be_in_another_folder(tmp_path: pathlib.Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    model = replace(MODEL, file=str(here / "models.py"))
    write_baseline(here / "accepted.json", report(found(output()), model=model))
    (there / "accepted.json").write_bytes((here / "accepted.json").read_bytes())
    moved = read_baseline(there / "accepted.json")
    assert moved.of(replace(model, file=str(there / "models.py"))) and not moved.of(model)


def format_1(tmp_path: pathlib.Path, finding: Finding, model: str = "src/models.py:make") -> pathlib.Path:
    entry = {
        "check": finding.check,
        "kind": finding.kind,
        "signature": list(finding.signature),
        "paths": [path.without_device for path in finding.shown_on],
    }
    file = tmp_path / "accepted.json"
    file.write_text(json.dumps({"format": 1, "model": model, "torch": "2.13.0", "accepted": [entry]}))
    return file


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (found(output(9e-6)), True),  # float64: 100 times (1e-7 + 1e-7 * 1) is 2e-5
        (found(output(3e-5)), False),
        (found(output(1e-6), buffer(1.0)), False),
        (found(output(math.nan)), False),
        (found(number(1000.0)), False),
        (found(stride("[1, 4]")), True),
    ],
)
def test_an_old_file_accepts_small_differences_only(
    now: Found, expected: bool, tmp_path: pathlib.Path
) -> None:
    baseline = read_baseline(format_1(tmp_path, now.finding))
    (marked,) = with_accepted(report(now), baseline.of(MODEL)).found
    assert marked.accepted is expected
    assert expected or "without a bound, at most" in marked.not_accepted_because
    assert "--accept" in baseline.notice and "--write-baseline" in baseline.notice
    assert not baseline.of(replace(MODEL, name="make_other"))
    assert not baseline.of(replace(MODEL, file="/project/other.py"))
    with pytest.warns(UserWarning, match="old format 1"):
        acceptance(str(tmp_path / "accepted.json"))


def test_a_fingerprint_has_no_bound_either() -> None:
    small, large = (found(output(apart)) for apart in (1e-6, 1.0))
    assert small.finding.fingerprint == large.finding.fingerprint
    accept = acceptance((small.finding.fingerprint,))
    assert [each.accepted for each in with_accepted(report(small), accept(MODEL)).found] == [True]
    assert [each.accepted for each in with_accepted(report(large), accept(MODEL)).found] == [False]


def test_an_entry_that_does_not_show_is_named(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "accepted.json"
    write_baseline(file, report(found(output())))
    entries = read_baseline(file).of(MODEL)
    assert [each.check for each in no_longer_shown(report(), entries)] == ["outputs"]
    assert not [*no_longer_shown(report(found(output())), entries)]
    assert not [*no_longer_shown(replace(report(), paths=()), entries)]  # its path was not judged


def test_a_bound_that_somebody_deleted_is_the_default(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "accepted.json"
    write_baseline(file, report(found(output(1.0))))
    document = json.loads(file.read_text())
    del document["accepted"][0]["differences"][0]["at_most"]
    file.write_text(json.dumps(document))
    entries = read_baseline(file).of(MODEL)
    marked = [with_accepted(report(found(output(apart))), entries).found[0] for apart in (1e-6, 1.0)]
    assert [each.accepted for each in marked] == [True, False]


@pytest.mark.parametrize("text", ["{}", "[]", '{"format": 2, "accepted": [{}]}', "[tool]", '{"format": 3}'])
def test_another_file_is_neither_read_nor_overwritten(text: str, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "accepted.json"
    file.write_text(text)
    with pytest.raises(UsageError, match=r"accepted\.json"):
        read_baseline(file)
    with pytest.raises(UsageError, match="this file exists and is no baseline"):
        write_baseline(file, report(found(output())))
    assert file.read_text() == text


class Small(torch.nn.Module):
    def __init__(self, size: int = 2) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, size)


def make() -> torch.nn.Module:
    return Small()


def test_a_model_has_the_identity_of_its_factory_or_of_its_state() -> None:
    by_function = identity(Small(), make)
    assert (by_function.file, by_function.name) == (__file__, "make")
    as_target = identity(Small(), torch.no_grad()(make), "/elsewhere/models.py", "make_too")
    assert as_target == by_function
    by_target = identity(Small(), lambda: Small(), "/elsewhere/models.py", "small")
    assert (by_target.file, by_target.name) == ("/elsewhere/models.py", "small")
    objects = [identity(each, each) for each in (Small(), Small(3), Small().eval())]
    assert {each.file for each in objects} == {""} and len({each.state for each in objects}) == 3
    assert by_function.is_same(objects[0]) and not by_function.is_same(objects[1])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "int64", "bool"])
def test_the_default_tolerance_is_that_of_torch(dtype: str) -> None:
    relative, absolute = torch.testing._comparison.default_tolerances(getattr(torch, dtype))
    assert default_tolerance(dtype, 3.0) == pytest.approx(absolute + 3.0 * relative)


def test_sizes_are_of_the_elements_furthest_apart() -> None:
    eager, here = torch.tensor([1.0, -8.0, np.inf]), torch.tensor([1.5, -8.0, np.inf])
    difference: Any = compare_leaf(snapshot(eager), snapshot(here))
    assert (difference.amount.absolute, difference.amount.relative) == (0.5, 0.0625)
    integers: Any = compare_leaf(python_value(3), python_value(5))
    assert (integers.amount.absolute, integers.amount.tolerated) == (2, 0.0)
    assert type(compare_leaf(python_value(True), python_value(False))) is LeafDifference


WRONG = """
import torch

class Counts(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, x):
        return x + (self.size if torch.compiler.is_exporting() else 0.0)

def small():
    return Counts(1e-4), (torch.ones(2),)

def large():
    return Counts(1.0), (torch.ones(2),)
"""


@pytest.mark.usefixtures("no_known_bugs")
def test_compare_reads_what_write_baseline_wrote(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "counting.py").write_text(WRONG)
    monkeypatch.syspath_prepend(str(tmp_path))
    from counting import Counts, large, small  # type: ignore[import-not-found]

    file, paths = tmp_path / "accepted.json", "nonstrict:module"
    before = exportdiff.compare(small, paths=paths)
    assert exportdiff.write_baseline(file, before) == 1
    inputs = (torch.ones(2),)

    def passes(model: Any, args: Any = ()) -> bool:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return exportdiff.compare(model, args, paths=paths, accept=str(file)).exit_code() == 0

    assert passes(small) and passes(Counts(1e-4), inputs) and passes(Counts(2e-4), inputs)
    assert not passes(large) and not passes(Counts(1.0), inputs)

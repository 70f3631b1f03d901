"""How to show that what runs is not what was exported."""

from __future__ import annotations

import itertools
from typing import Any

from exportdiff.judging.checks.structure.check import GraphBroken
from exportdiff.judging.checks.structure.translation import StepDiffers, StepMoved
from exportdiff.repro.parts import Parts
from exportdiff.repro.paste import Template
from exportdiff.repro.templates import steps
from exportdiff.repro.templates.stand_ins import export, lower, make
from exportdiff.repro.templates.steps import exported_steps, rebuilt_steps
from exportdiff.repro.writers.structure.common import verdict

_FUNCTIONS = (
    steps.tensor_names,
    steps.inputs_of,
    steps.written_by,
    steps.is_pure,
    steps.is_in_place,
    steps.recorded_frames,
    steps.live,
    steps.Follower,
    steps.own_copies,
    steps.exported_steps,
    steps.rebuilt_steps,
)


def follow_both() -> Any:
    """Follow the graphs of both."""
    model, args, kwargs = make()
    ep = export(model)
    ours = exported_steps(ep)
    candidate = lower(ep)
    theirs = rebuilt_steps(candidate, ep)
    return ours, theirs


def compare_texts(ours: Any, theirs: Any) -> list[str]:
    """Compare the operators and what they read."""
    pairs = itertools.zip_longest([text for text, _ in ours], [text for text, _ in theirs])
    bug = [f"step {i}: exported was {a}, here runs {b}" for i, (a, b) in enumerate(pairs) if a != b]
    return bug


def compare_places(ours: Any, theirs: Any) -> list[str]:
    """Compare the calls that the operators run in, and which of them were under way before."""
    bug: list[str] = []
    before: Any = ((), ())
    for (text, a), (_, b) in zip(ours, theirs, strict=False):
        if a is None or b is None:
            continue
        paths = [[path for path, _ in frames] for frames in (a, b)]
        pairs = zip(before, (a, b), strict=True)
        kept = [sum(1 for x, y in zip(was, now, strict=False) if x == y) for was, now in pairs]
        before = (a, b)
        if paths[0] != paths[1] or kept[0] != kept[1]:
            places = [f"{path}, {n} of them not new" for path, n in zip(paths, kept, strict=True)]
            bug.append(f"{text} was exported in {places[0]}; here it is in {places[1]}")
    return bug


def try_exported() -> list[str]:
    """Follow the exported graph."""
    bug: list[str] = []
    model, args, kwargs = make()
    ep = export(model)
    try:
        exported_steps(ep)
    except Exception as error:
        bug.append(f"{type(error).__name__}: {str(error)[:200]!r}")
    return bug


def try_both() -> list[str]:
    """Follow the graphs of both."""
    bug: list[str] = []
    model, args, kwargs = make()
    ep = export(model)
    candidate = lower(ep)
    try:
        exported_steps(ep)
        rebuilt_steps(candidate, ep)
    except Exception as error:
        bug.append(f"{type(error).__name__}: {str(error)[:200]!r}")
    return bug


def write(evidence: StepDiffers | StepMoved | GraphBroken) -> Parts:
    """Write down other operators, operators that run in other calls, and graphs that cannot be followed."""
    match evidence:
        case StepDiffers():
            return _parts(Template(follow_both), Template(compare_texts), _SAME)
        case StepMoved():
            return _parts(Template(follow_both), Template(compare_places), _SAME)
        case GraphBroken(stage=stage):
            attempt = Template(try_exported if stage == "export" else try_both)
            return _parts(attempt, verdict("the graphs can be followed to their ends"))


_SAME = verdict("RUNNER runs what was exported")


def _parts(*script: Template) -> Parts:
    return Parts([Template(function) for function in _FUNCTIONS], [*script], of_program=True)

"""Judges a program on the device and, where that shows a finding, on the CPU.

A finding that both show is a bug of torch that needs no GPU: campaigns find it. Only the others count.
The same exception may come from other functions on the CPU: a crash with the same title is the same finding.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from exportdiff.core.case import case_from_source
from exportdiff.judging.judge_case import judge_case
from exportdiff.lab.bench.gpu.found import Difference, Ran, dropped
from exportdiff.runtime.paths import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.core.path import Path
    from exportdiff.judging.results import Verdict

Shown = dict[tuple[str, tuple[str, ...]], "Finding"]
"""Findings, by path without device and signature."""


def only_on_device(name: str, source: Callable[[str], str], paths: Sequence[str], device: str) -> Ran:
    """Return what the paths show on the device alone. ``source`` writes the program for a device.

    ``paths``: paths that name the device on which they run.
    """
    text = source(device)
    here = judge_case(_case(text, text), [parse(path) for path in paths])
    if not here.valid:
        return dropped(here.invalid_reason)
    ran = Ran(1, len(here.paths))
    first = _shown(here)
    if not first:
        return ran
    only = sorted({path for path, _ in first})
    again = _shown(judge_case(_case(text, text), [_on(path, paths) for path in only]))
    steady = {key: finding for key, finding in first.items() if key in again}
    there = judge_case(_case(source("cpu"), text), [parse(f"{path}@cpu") for path in only])
    on_cpu = _shown(there)
    raised = {(path, finding.title) for (path, _), finding in on_cpu.items() if finding.kind == "crash"}
    new = {
        key: finding
        for key, finding in steady.items()
        if key not in on_cpu and (key[0], finding.title) not in raised
    }
    differences = tuple(
        Difference(name, str(_on(path, paths)), found.check, found.title, text, _others(path, there))
        for (path, _), found in new.items()
    )
    return ran + Ran(
        shared=len(steady) - len(new), unsteady=len(first) - len(steady), differences=differences
    )


def _case(text: str, salt: str) -> Case:
    """Make a case of a text. ``salt`` decides which deviations are tried: the same ones on all devices."""
    return replace(case_from_source(text), source=salt)


def _on(written: str, paths: Sequence[str]) -> Path:
    return next(path for path in map(parse, paths) if path.without_device == written)


def _shown(verdict: Verdict) -> Shown:
    return {
        (path.without_device, finding.signature): finding
        for finding in verdict.findings
        for path in finding.shown_on
    }


def _others(path: str, there: Verdict) -> str:
    """Return what the path shows on the CPU instead."""
    if not there.valid:
        return f"not judged: {there.invalid_reason}"
    titles = [finding.title for (written, _), finding in _shown(there).items() if written == path]
    return "; ".join(titles[:2])

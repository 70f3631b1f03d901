"""Judges a program for a command that runs under another torch. Runs in a worker process of the server."""

from __future__ import annotations

import pathlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from exportdiff.core.case import case_from_source
from exportdiff.fuzzing.other_torch.messages import PathAnswer, ProgramAnswer, ReproAnswer
from exportdiff.judging.exemptions.refusal import fix_refusals
from exportdiff.judging.judge_case import judge_case
from exportdiff.known.corpus.needed_fixes import fixes_named
from exportdiff.repro import repro_source
from exportdiff.runtime.observing.freeing_programs import clean_state
from exportdiff.runtime.patching.fixes import FixError, applied
from exportdiff.runtime.paths import parse
from exportdiff.runtime.paths.catalog import lacks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exportdiff.core.path import Path
    from exportdiff.fuzzing.other_torch.messages import JudgeProgram, WriteRepro
    from exportdiff.judging.exemptions.refusal import FixRefusal
    from exportdiff.judging.results import Verdict


def answer_program(question: JudgeProgram) -> ProgramAnswer:
    """Judge a program on the paths that this torch has."""
    paths = tuple(map(parse, question.paths))
    able = tuple(path for path in paths if not lacks(path))
    try:
        fixes = fixes_named(question.fixes, pathlib.Path(question.corpora)) if question.fixes else ()
        with applied(fixes):
            verdict = _verdict(question.source, able, fix_refusals(fixes))
    except FixError as error:
        return ProgramAnswer(False, str(error))
    if isinstance(verdict, str):
        return ProgramAnswer(False, verdict)
    return program_answer(verdict, paths)


def answer_repro(question: WriteRepro) -> ReproAnswer:
    """Judge a program, and write a repro file for one of its findings."""
    verdict = _verdict(question.source, (parse(question.path),), ())
    if isinstance(verdict, str):
        return ReproAnswer("")
    for finding in verdict.findings:
        if finding.signature == question.signature:
            return ReproAnswer(repro_source(finding, question.source), finding.fingerprint)
    return ReproAnswer("")


@contextmanager
def fixes_installed(names: Sequence[str], corpora: str) -> Iterator[None]:
    """Install fixes in the block. Raises UsageError and FixError."""
    with applied(fixes_named(names, pathlib.Path(corpora))):
        yield


def program_answer(verdict: Verdict, paths: Sequence[Path]) -> ProgramAnswer:
    """Return the answer for a verdict, including the paths on which nothing was compared."""
    if not verdict.valid:
        return ProgramAnswer(False, verdict.invalid_reason)
    found = {result.path: result for result in verdict.paths}
    unjudged = {each.path: each.reason for each in verdict.unjudged}

    def on(path: Path) -> PathAnswer:
        if path not in found:
            needs = ", ".join(lacks(path))
            reason = f"this torch has no {needs}" if needs else unjudged.get(path, "nothing was compared")
            return PathAnswer(str(path), "unjudged", reason)
        signatures = tuple(each.signature for each in verdict.findings if path in each.shown_on)
        return PathAnswer(str(path), found[path].status, found[path].reason, signatures)

    return ProgramAnswer(True, "", tuple(map(on, paths)))


@clean_state(free=True)
def _verdict(source: str, paths: tuple[Path, ...], refusals: Sequence[FixRefusal]) -> Verdict | str:
    """Return the verdict; a reason if this torch cannot even define the program."""
    try:
        case = case_from_source(source)
    except Exception as error:  # the program names what this torch lacks
        return f"{type(error).__name__}: {error}"
    if not paths:
        return "this torch has none of its paths"
    return judge_case(case, paths, refusals)

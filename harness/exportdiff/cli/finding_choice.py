"""Chooses the finding of a program that ``exportdiff minimize`` keeps."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError
from exportdiff.fuzzing.minimizing.candidate_judge import FIRST_SECONDS, load_source
from exportdiff.interfaces.checking.in_subprocess import LoadableModel, findings_of
from exportdiff.interfaces.reports.text import headline
from exportdiff.repro.program import read_program
from exportdiff.runtime.patching.installed import install
from exportdiff.runtime.paths import core_paths, parse
from exportdiff.runtime.paths.transforms.apply import without_sizes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.core.path import Path
    from exportdiff.fuzzing.minimizing.program_file import ProgramFile
    from exportdiff.runtime.patching.fixes import Fix


def chosen_finding(
    written: str, subject: ProgramFile, path: str | None, check: str | None, fixes: tuple[Fix, ...] = ()
) -> Finding | None:
    """Judge the program, choose a finding, and print the others; return None if there is no finding.

    ``written``: the name of the program in messages. ``path``, ``check``: the options of the user. ``fixes``
    are installed while the program is judged. Raises UsageError if the program cannot be judged.
    """
    try:
        if path:
            paths: Sequence[Path] = (parse(path),)
        elif subject.path:
            named = parse(subject.path)
            paths = (without_sizes(named) if read_program(subject.source).dynamic else named,)
        else:
            paths = core_paths()
    except ValueError as error:
        raise UsageError(f"{written}: {error}") from None
    found = _findings(written, subject, paths, fixes)
    wanted = [each for each in found if check in (None, each.check)]
    if subject.path and not path and not check:
        wanted.sort(key=lambda each: not subject.names(each))
    if not wanted:
        what = f" of {check}" if check else ""
        say(f"{written}: no difference{what} on {', '.join(map(str, paths))}: nothing to minimize")
        for other in found:
            say(f"another finding: {headline(other)}")
        return None
    say(f"minimizing: {headline(wanted[0])}")
    for other in found:
        if other is not wanted[0]:
            say(f"also found, not minimized: {headline(other)}")
    return wanted[0]


def _findings(
    written: str, subject: ProgramFile, paths: Sequence[Path], fixes: tuple[Fix, ...]
) -> Sequence[Finding]:
    load = partial(_load, fixes, written, subject.source, subject.folder)
    return findings_of(LoadableModel(written, load), paths, FIRST_SECONDS)


def _load(fixes: tuple[Fix, ...], written: str, source: str, folder: str) -> Case:
    """Load a program in the process that judges it, and install the fixes there. Raises UsageError."""
    install(fixes)
    return load_source(written, source, folder)


def say(line: str) -> None:
    """Print a line on standard error; the result goes to standard output."""
    print(line, file=sys.stderr, flush=True)

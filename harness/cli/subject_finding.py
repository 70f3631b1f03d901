"""Chooses which finding of a program the command ``minimize`` keeps."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from harness.equivalence import children
from harness.equivalence.children import findings_of
from harness.errors import UsageError
from harness.minimizing.judging import FIRST_SECONDS, load_source
from harness.paths import core_paths, parse
from harness.reporting.text import headline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.findings import Finding
    from harness.minimizing.subject import Subject
    from harness.path import Path


def chosen_finding(written: str, subject: Subject, path: str | None, check: str | None) -> Finding | None:
    """Judge the program, choose a finding, and print which others there are; None if there is none to choose.

    ``written`` is what the user calls the program; ``path`` and ``check`` are what the user asked for. Raises
    UsageError if the program cannot be judged.
    """
    given = path or subject.path
    try:
        paths = (parse(given),) if given else core_paths()
    except ValueError as error:
        raise UsageError(f"{written}: {error}") from None
    found = _findings(written, subject, paths)
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


def _findings(written: str, subject: Subject, paths: Sequence[Path]) -> Sequence[Finding]:
    load = partial(load_source, written, subject.source, subject.folder)
    return findings_of(children.Subject(written, load), paths, FIRST_SECONDS)


def say(line: str) -> None:
    """Print a line on standard error; the result goes to standard output."""
    print(line, file=sys.stderr, flush=True)

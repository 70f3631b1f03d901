"""``exportdiff minimize``: a program that shows a finding, as small as it gets."""

from __future__ import annotations

import os
import pathlib
import sys
from typing import TYPE_CHECKING

from harness.cli.arguments import duration
from harness.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from harness.cli.types import Subparsers
    from harness.findings import Finding
    from harness.judge.verdict import Verdict
    from harness.minimizing import Minimized
    from harness.minimizing.notes import Notes
    from harness.minimizing.subject import Subject
    from harness.processes.pool import Death
    from harness.repro.confirm import Confirmation


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser("minimize", help="make a program that shows a difference small")
    parser.add_argument(
        "file",
        metavar="FILE.py[:NAME]",
        help="a repro file, a program as show prints it, or your own; NAME is the callable that returns "
        "(model, args) or (model, args, kwargs) (default: make)",
    )
    parser.add_argument(
        "--time", type=duration, default=60.0, metavar="TIME", help="stop after 90s, 10m, 1h (default: 60s)"
    )
    parser.add_argument(
        "--path",
        metavar="PATH",
        help="judge along this path, e.g. nonstrict:unflatten (default: the one in the file's header, else "
        "all core paths)",
    )
    parser.add_argument(
        "--check", metavar="NAME", help="of several findings, the one of this check (default: the first)"
    )
    parser.add_argument(
        "--out",
        type=pathlib.Path,
        metavar="FILE",
        help="write the result there instead of to standard output; a run that is cut short goes on from "
        "there when it is started again",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print or write a repro file; return 0 if it shows the finding, 1 if there is nothing to show."""
    from harness.minimizing.subject import read_subject

    subject = read_subject(arguments.file)
    _check_arguments(arguments)
    finding = _chosen(arguments, subject)
    if finding is None:
        return 1
    from harness.minimizing.shipping import ship

    minimized = _minimized(arguments, subject, finding)
    shipped = ship(minimized, lambda text: _confirm(text, subject))
    _say(_summary(minimized))
    if not shipped.smallest:
        _say("the smallest does not show it in a fresh process: this is the smallest that does")
    if arguments.out is None:
        print(shipped.text, end="")
    else:
        _replace(arguments.out, shipped.text)
        _say(f"written to {arguments.out}; run it with: python {arguments.out}")
    if not shipped.confirmed:
        _say(f"not confirmed in a fresh process: {shipped.reason}")
        return 1
    return 0


def _check_arguments(arguments: argparse.Namespace) -> None:
    from harness.checks import CHECKS
    from harness.paths import Path

    if arguments.path is not None:
        try:
            arguments.path = str(Path.parse(arguments.path))
        except ValueError as error:
            raise UsageError(f"--path {error}") from None
    if arguments.check is not None and arguments.check not in (*CHECKS, "alive"):
        raise UsageError(f"--check {arguments.check}: there is no such check; there are {', '.join(CHECKS)}")
    if arguments.out is not None:
        if not arguments.out.resolve().parent.is_dir() or arguments.out.is_dir():
            raise UsageError(f"--out {arguments.out}: no file can be written there; its folder must exist")
        if arguments.out.exists() and arguments.out.samefile(arguments.file.partition(".py")[0] + ".py"):
            raise UsageError(f"--out {arguments.out}: that is the file to be minimized; name another")


def _chosen(arguments: argparse.Namespace, subject: Subject) -> Finding | None:
    """Judge once, say what else is there, and choose."""
    from harness.paths import core_paths
    from harness.reporting.text import headline

    given = arguments.path or subject.path
    paths = (given,) if given else tuple(map(str, core_paths()))
    found = list(_findings(arguments.file, subject, paths))
    wanted = [each for each in found if arguments.check in (None, each.check)]
    if subject.path and not arguments.path and not arguments.check:
        wanted.sort(key=lambda each: not subject.names(each))
    if not wanted:
        what = f" of {arguments.check}" if arguments.check else ""
        _say(f"{arguments.file}: no difference{what} on {', '.join(paths)}: nothing to minimize")
        for other in found:
            _say(f"there is: {headline(other)}")
        return None
    _say(f"minimizing: {headline(wanted[0])}")
    for other in found:
        if other is not wanted[0]:
            _say(f"also found, and left alone: {headline(other)}")
    return wanted[0]


def _findings(written: str, subject: Subject, paths: tuple[str, ...]) -> Iterator[Finding]:
    from harness.engine.campaign import add_death
    from harness.paths import Path
    from harness.processes.pool import Death

    answer = _verdict(written, subject, paths)
    if not isinstance(answer, Death):
        yield from answer.findings
        return
    eager = _verdict(written, subject, ())
    if isinstance(eager, Death):
        what = "hangs" if eager.kind == "hang" else "takes the process down"
        raise UsageError(f"{written} {what} by itself ({eager.reason})")
    found: list[Finding] = []
    for path in paths:
        one = _verdict(written, subject, (path,))
        if isinstance(one, Death):
            add_death(found, Path.parse(path), one)
        else:
            found += one.findings
    yield from found


def _verdict(written: str, subject: Subject, paths: tuple[str, ...]) -> Verdict | Death:
    from harness.minimizing.judging import FIRST_SECONDS, find_all
    from harness.processes.pool import Failure, call_fresh

    answer = call_fresh(FIRST_SECONDS, find_all, (subject.folder,), subject.source, paths)
    if isinstance(answer, str):
        raise UsageError(f"{written}: {answer}")
    if isinstance(answer, Failure):
        raise answer.error
    return answer


def _minimized(arguments: argparse.Namespace, subject: Subject, finding: Finding) -> Minimized:
    from harness.minimizing.notes import Notes

    if arguments.out is None:
        return _reduce(arguments, subject, finding, None)
    file = arguments.out.with_name(arguments.out.name + ".minimizing")
    with Notes(file, subject.source, str(finding.path), *finding.signature) as notes:
        if notes.best:
            _say(f"going on from what {file} holds")
        minimized = _reduce(arguments, subject, finding, notes)
        if minimized.finished:
            notes.remove()
    return minimized


def _reduce(
    arguments: argparse.Namespace, subject: Subject, finding: Finding, notes: Notes | None
) -> Minimized:
    from harness.minimizing import NotShownError, Progress, minimize
    from harness.reporting.minimizing import ProgressLine

    with ProgressLine() as line:

        def progress(now: Progress) -> None:
            line(now)
            if notes is not None and now.source != notes.best:
                notes.note(now.source)

        try:
            return minimize(
                subject.source,
                finding,
                seconds=arguments.time,
                progress=progress,
                folders=(subject.folder,),
                best=notes.best if notes else "",
                tried=notes.tried if notes else (),
                on_rejected=notes.reject if notes else lambda digest: None,
            )
        except NotShownError as error:
            raise UsageError(f"{arguments.file}: {error} when judged along that path alone") from None


def _confirm(text: str, subject: Subject) -> Confirmation:
    from harness.repro.confirm import confirm

    return confirm(text, subject.folder)


def _summary(minimized: Minimized) -> str:
    from harness.source.line_count import code_lines

    first, last = minimized.history[0][0], minimized.source
    done = "nothing shorter is known" if minimized.finished else "stopped before the end"
    return (
        f"{code_lines(first)} lines became {code_lines(last)} ({len(first)} characters became {len(last)}), "
        f"{minimized.tried} candidates in {minimized.seconds:.0f} s; {done}"
    )


def _replace(file: pathlib.Path, text: str) -> None:
    """Write a file all at once: what was there stays whole until then."""
    new = file.with_name(f".{file.name}.{os.getpid()}")
    new.write_text(text, encoding="utf-8")
    new.replace(file)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)

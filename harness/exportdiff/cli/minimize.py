"""``exportdiff minimize``: make a program that shows a finding as small as possible."""

from __future__ import annotations

import pathlib
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

from exportdiff.cli.arguments import add_corpora_option, add_limit_options, duration
from exportdiff.core.errors import UsageError
from exportdiff.core.program_text.line_count import code_lines

# Functions import the modules that import torch or rich, so that ``exportdiff --help`` starts fast.
if TYPE_CHECKING:
    import argparse

    from exportdiff.cli.types import Subparsers
    from exportdiff.core.finding import Finding
    from exportdiff.fuzzing.minimizing import Minimized
    from exportdiff.fuzzing.minimizing.notes import Notes
    from exportdiff.fuzzing.minimizing.program_file import ProgramFile
    from exportdiff.runtime.patching.fixes import Fix
    from exportdiff.runtime.processes.script import Within


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "minimize",
        help="shorten a program that shows a difference",
        description="Make a program that shows a difference as small as possible, and print it as a repro "
        "file.",
    )
    parser.add_argument(
        "file",
        metavar="FILE.py[:NAME]",
        help="a repro file, a program that 'exportdiff show' printed, or a file of your own; NAME is a "
        "callable that returns (model, args) or (model, args, kwargs) (default: make)",
    )
    parser.add_argument(
        "--time",
        type=duration,
        default=60.0,
        metavar="TIME",
        help="stop after TIME, e.g. 90s, 10m or 1h (default: 60s)",
    )
    parser.add_argument(
        "--path",
        metavar="PATH",
        help="judge this path, e.g. nonstrict:unflatten (default: the path in the header of the file, else "
        "all core paths)",
    )
    parser.add_argument(
        "--check",
        metavar="NAME",
        help="keep the finding of this check (default: the first finding)",
    )
    parser.add_argument(
        "--out",
        type=pathlib.Path,
        metavar="FILE",
        help="write the result to FILE instead of standard output; if the command is interrupted, running it "
        "again continues where it stopped",
    )
    add_corpora_option(parser, "the corpus with the fixes that the header of the file names")
    add_limit_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print or write a repro file; return 0 if it shows the finding, 1 if not, or if there is no finding."""
    from exportdiff.cli.finding_choice import chosen_finding, say
    from exportdiff.fuzzing.minimizing.program_file import read_program_file
    from exportdiff.fuzzing.minimizing.shipping import ship
    from exportdiff.interfaces.output_files import replace_text
    from exportdiff.interfaces.reports.commands import repro_command
    from exportdiff.known.corpus.needed_fixes import fixes_named
    from exportdiff.repro.confirm import confirm
    from exportdiff.runtime.patching.fixes import applied

    subject = read_program_file(arguments.file)
    _check_arguments(arguments)
    needed = subject.needs.fixes if subject.needs is not None else ()
    fixes = fixes_named(needed, arguments.corpora)
    finding = chosen_finding(arguments.file, subject, arguments.path, arguments.check, fixes)
    if finding is None:
        return 1
    minimized = _minimized(arguments, subject, finding, fixes)
    within: Within = partial(applied, fixes) if fixes else nullcontext
    shipped = ship(minimized, lambda text: confirm(text, subject.folder, within), subject.needs)
    say(_summary(minimized))
    if not shipped.smallest:
        say(
            "the smallest program does not show the difference in a fresh process; this is the smallest that "
            "does"
        )
    if arguments.out is None:
        print(shipped.text, end="")
    else:
        replace_text(arguments.out, shipped.text)
        command = repro_command(arguments.out, needed, arguments.corpora)
        say(f"written to {arguments.out}; run it with: {command}")
    if not shipped.confirmed:
        say(f"not confirmed in a fresh process: {shipped.reason}")
        return 1
    return 0


def _check_arguments(arguments: argparse.Namespace) -> None:
    """Raise UsageError for a wrong argument, and complete the name of the path."""
    from exportdiff.judging.checks import CHECKS
    from exportdiff.runtime.paths import parse

    if arguments.path is not None:
        try:
            arguments.path = str(parse(arguments.path))
        except ValueError as error:
            raise UsageError(f"--path {error}") from None
    if arguments.check is not None and arguments.check not in (*CHECKS, "alive"):
        raise UsageError(f"--check {arguments.check}: there is no such check; there are {', '.join(CHECKS)}")
    if arguments.out is not None:
        if not arguments.out.resolve().parent.is_dir() or arguments.out.is_dir():
            raise UsageError(f"--out {arguments.out}: no file can be written there; its folder must exist")
        if arguments.out.exists() and arguments.out.samefile(arguments.file.partition(".py")[0] + ".py"):
            raise UsageError(f"--out {arguments.out} is the file to minimize; name another file")


def _minimized(
    arguments: argparse.Namespace, subject: ProgramFile, finding: Finding, fixes: tuple[Fix, ...]
) -> Minimized:
    from exportdiff.cli.finding_choice import say
    from exportdiff.fuzzing.minimizing.notes import Notes

    if arguments.out is None:
        return _reduce(arguments, subject, finding, fixes, None)
    file = arguments.out.with_name(arguments.out.name + ".minimizing")
    with Notes(file, subject.source, str(finding.path), *finding.signature) as notes:
        if notes.best:
            say(f"continuing from {file}")
        minimized = _reduce(arguments, subject, finding, fixes, notes)
        if minimized.finished:
            notes.remove()
    return minimized


def _reduce(
    arguments: argparse.Namespace,
    subject: ProgramFile,
    finding: Finding,
    fixes: tuple[Fix, ...],
    notes: Notes | None,
) -> Minimized:
    from exportdiff.fuzzing.minimizing import NotShownError, Progress, minimize
    from exportdiff.interfaces.reports.progress import ProgressLine

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
                fixes=fixes,
                best=notes.best if notes else "",
                tried=notes.tried if notes else (),
                on_rejected=notes.reject if notes else lambda digest: None,
            )
        except NotShownError as error:
            raise UsageError(f"{arguments.file}: {error} when judged along that path alone") from None


def _summary(minimized: Minimized) -> str:
    first, last = minimized.history[0][0], minimized.source
    done = "no pass makes it smaller" if minimized.finished else "stopped before the end"
    return (
        f"reduced from {code_lines(first)} to {code_lines(last)} lines ({len(first)} to {len(last)} "
        f"characters) with {minimized.tried} candidates in {minimized.seconds:.0f} s; {done}"
    )

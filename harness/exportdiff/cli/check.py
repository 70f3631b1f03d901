"""``exportdiff check``: judge one model of the user's own."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import TYPE_CHECKING

from exportdiff.cli.arguments import (
    add_device_option,
    add_limit_options,
    available,
    chosen_paths,
    duration,
    left_out,
)
from exportdiff.cli.interrupting import interruptible
from exportdiff.core.errors import UsageError
from exportdiff.core.target import Target
from exportdiff.core.torch_versions import torch_version
from exportdiff.interfaces.checking.baseline import (
    no_longer_shown,
    read_baseline,
    with_accepted,
    write_baseline_file,
)
from exportdiff.interfaces.checking.default_paths import default_paths
from exportdiff.interfaces.checking.report import FAIL_ON
from exportdiff.known.corpus.entry import default_corpora
from exportdiff.runtime.processes.server import server

# Functions import the modules that import torch or rich, so that ``exportdiff --help`` starts fast.
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from exportdiff.cli.types import Subparsers
    from exportdiff.core.path import Path
    from exportdiff.interfaces.checking.baseline import AcceptedFinding
    from exportdiff.interfaces.checking.report import Report


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "check",
        help="compare your own model: eager against exported",
        description="Export your own model along the paths that people deploy, and compare what it does with "
        "eager. Exit code: 0 the model was judged and nothing fails, 1 a finding fails, 2 the model was not "
        "judged or an argument is wrong, 3 exportdiff itself failed.",
    )
    parser.add_argument(
        "target",
        metavar="TARGET",
        help="FILE.py:NAME or package.module:NAME; NAME is a callable that returns (model, args) or "
        "(model, args, kwargs)",
    )
    parser.add_argument(
        "--paths",
        nargs="+",
        action="extend",
        default=[],
        metavar="GLOB",
        help="judge the paths that match GLOB instead, e.g. 'nonstrict:*'",
    )
    parser.add_argument("--all", action="store_true", help="judge all paths; takes minutes")
    add_device_option(parser)
    parser.add_argument(
        "--fail-on",
        choices=FAIL_ON,
        default="any",
        help="which findings fail: any; new: those that the corpus does not know; silent: those that are "
        "wrong without an error (default: any)",
    )
    parser.add_argument(
        "--accept", type=pathlib.Path, metavar="FILE", help="findings in this baseline do not fail"
    )
    parser.add_argument(
        "--write-baseline",
        type=pathlib.Path,
        metavar="FILE",
        help="write the findings that fail to a baseline for --accept, and exit with 0",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--junit", type=pathlib.Path, metavar="FILE", help="write the verdict as JUnit XML as well"
    )
    parser.add_argument(
        "--sarif", type=pathlib.Path, metavar="FILE", help="write the verdict as SARIF 2.1.0 as well"
    )
    parser.add_argument(
        "--minimize",
        type=duration,
        metavar="TIME",
        help="write a repro file for each finding that fails, with the model reduced as far as its file "
        "allows; stop after TIME for each, e.g. 60s",
    )
    parser.add_argument(
        "--repros",
        type=pathlib.Path,
        default=pathlib.Path("exportdiff-repros"),
        metavar="DIR",
        help="the folder of the repro files (default: exportdiff-repros)",
    )
    parser.add_argument(
        "--limit",
        type=duration,
        default=600.0,
        metavar="TIME",
        help="time limit for judging, e.g. 90s (default: 10m)",
    )
    add_limit_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Judge the model in fresh processes; return the exit code of the report."""
    target = Target.parse(arguments.target)
    paths = _paths(arguments)
    accepted = read_baseline(arguments.accept) if arguments.accept else ()
    report = _judged(arguments, target, paths, accepted)
    if arguments.junit:
        from exportdiff.interfaces.reports.junit import write_junit

        write_junit(arguments.junit, [report], arguments.fail_on)
    if arguments.sarif:
        from exportdiff.interfaces.reports.sarif import write_sarif

        write_sarif(arguments.sarif, report, target, arguments.fail_on)
    if arguments.json:
        print(json.dumps(report.as_dict(), indent=1, ensure_ascii=False))
    if arguments.minimize:
        _minimize(arguments, target, report)
    for each in no_longer_shown(report, accepted):
        what = f"{each.check} {each.kind} on {', '.join(sorted(each.paths))}"
        print(f"{arguments.accept}: no longer shown, take it out: {what}", file=sys.stderr)
    if arguments.write_baseline and report.judged:
        number = write_baseline_file(arguments.write_baseline, report, arguments.fail_on)
        print(f"{number} findings written to {arguments.write_baseline}", file=sys.stderr)
        return 0
    return report.exit_code(arguments.fail_on)


def _paths(arguments: argparse.Namespace) -> tuple[Path, ...]:
    if arguments.all and arguments.paths:
        raise UsageError("--all and --paths: give one of them")
    if arguments.all or arguments.paths:
        return chosen_paths(arguments.paths, arguments.device)
    return default_paths(available(arguments.device))


def _judged(
    arguments: argparse.Namespace,
    target: Target,
    paths: tuple[Path, ...],
    accepted: Sequence[AcceptedFinding],
) -> Report:
    """Judge the model; unless JSON is wanted, print the rows of the paths as they come, and the findings."""
    # First of all: what is imported below is imported while the server imports torch.
    server("exportdiff.interfaces.checking.explaining", "exportdiff.interfaces.checking.loading")
    from exportdiff.interfaces.checking.in_subprocess import judge_in_subprocess, loadable_model
    from exportdiff.interfaces.reports.model_report import Rows, print_report
    from exportdiff.interfaces.reports.text import left_out_line, make_console

    console = make_console(quiet=arguments.json)
    if arguments.all or arguments.paths:
        lacking = left_out(arguments.paths, expensive=True, switches=False)
        if line := left_out_line(torch_version(), lacking):
            console.print(line, markup=False, soft_wrap=True)
    corpora = default_corpora()
    with interruptible() as stop, Rows(console, paths) as rows:
        report = judge_in_subprocess(
            loadable_model(target), paths, seconds=arguments.limit, corpora=corpora, tell=rows.tell, stop=stop
        )
    report = report.with_found(with_accepted(report.found, accepted))
    if report.invalid:
        print(f"exportdiff check: {target.written}: {report.invalid}", file=sys.stderr)
    else:
        print_report(report, console, arguments.fail_on, corpora)
    return report


def _minimize(arguments: argparse.Namespace, target: Target, report: Report) -> None:
    """Write a repro file for each finding that fails; say on standard error what came of it."""
    from exportdiff.fuzzing.minimizing.subject import read_program_file
    from exportdiff.interfaces.checking.reproducing import NoSourceError, Source, write_repro
    from exportdiff.judging.checks.alive import ALIVE

    findings = [each.finding for each in report.failing(arguments.fail_on) if each.finding.check != ALIVE]
    if not target.module.endswith(".py"):
        print("--minimize needs the file of the model: name it as FILE.py:NAME", file=sys.stderr)
        return
    file = pathlib.Path(target.module).resolve()
    source = Source(read_program_file(f"{file}:{target.name}").source, file, target.name)
    for finding in findings:
        try:
            repro = arguments.repros / f"{finding.fingerprint}.py"
            written = write_repro(source, finding, repro, arguments.minimize)
        except NoSourceError as error:
            print(f"{finding.fingerprint}: no repro file: {error}", file=sys.stderr)
            continue
        except OSError as error:
            raise UsageError(f"--repros {arguments.repros}: {error.strerror or error}") from None
        remark = f" (it does not show it: {written.problem})" if written.problem else ""
        print(f"{finding.fingerprint}: python {written.file}{remark}", file=sys.stderr)

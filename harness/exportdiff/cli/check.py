"""``exportdiff check``: judge one model of the user."""

from __future__ import annotations

import argparse
import pathlib
import re
import sys
from typing import TYPE_CHECKING, TypeVar

from exportdiff.cli.arguments import (
    add_device_option,
    add_json_option,
    add_limit_options,
    add_time_limit_option,
    chosen_paths,
    duration,
    left_out,
    limits_given,
    positive,
    print_json,
)
from exportdiff.cli.interrupting import interruptible
from exportdiff.cli.settings import make_settable, settle, written
from exportdiff.core.errors import UsageError
from exportdiff.core.target import Target
from exportdiff.core.tolerance import Tolerance, read_bound, read_metric
from exportdiff.core.torch_versions import torch_version
from exportdiff.interfaces.checking.accepting import no_longer_shown, with_accepted
from exportdiff.interfaces.checking.baseline import (
    NO_BASELINE,
    read_baseline,
    read_before_writing,
    write_baseline,
)
from exportdiff.interfaces.checking.default_paths import BY_DEFAULT
from exportdiff.interfaces.checking.found import FAIL_ON
from exportdiff.interfaces.checking.given import Given
from exportdiff.interfaces.checking.report import assembled
from exportdiff.interfaces.output_files import check_writable
from exportdiff.known.corpus.entry import default_corpora
from exportdiff.runtime.paths.backends import is_mode
from exportdiff.runtime.paths.parsing import is_pattern
from exportdiff.runtime.processes.limits import limited
from exportdiff.runtime.processes.server import server

# Functions import the modules that import torch or rich, so that ``exportdiff --help`` starts fast.
if TYPE_CHECKING:
    from collections.abc import Callable

    from exportdiff.cli.types import Subparsers
    from exportdiff.core.path import Path
    from exportdiff.core.tolerance import Metric
    from exportdiff.interfaces.checking.baseline import Baseline
    from exportdiff.interfaces.checking.report import Report
    from exportdiff.interfaces.checking.suggesting import Suggestion

T = TypeVar("T")


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "check",
        help="compare your own model: eager against exported",
        description="Export your own model in many ways, run the results, and compare them with eager.",
    )
    target = parser.add_argument(
        "target",
        metavar="TARGET",
        help="FILE.py:NAME or package.module:NAME; NAME is a callable that returns (model, args) or "
        "(model, args, kwargs)",
    )
    target.required = False  # "--paths GLOB… TARGET" takes it for a pattern: see _target
    parser.add_argument(
        "--paths",
        nargs="+",
        action="extend",
        default=[],
        metavar="GLOB",
        help=f"judge the paths that match GLOB, e.g. 'nonstrict:*' (default: {len(BY_DEFAULT)} "
        "paths that export; docs/reference/paths.md lists them)",
    )
    parser.add_argument("--all", action="store_true", help="judge all paths; this takes minutes")
    add_device_option(parser)
    parser.add_argument(
        "--program",
        type=pathlib.Path,
        metavar="FILE",
        help="judge what was exported before: a .pt2 file of torch.export.save, a .onnx file or a .pte file. "
        "--paths can choose among file:module and file:unflatten (default: both); a .onnx file has the path "
        "onnx:saved, a .pte file the path executorch:saved",
    )
    parser.add_argument(
        "--inputs",
        type=pathlib.Path,
        metavar="FILE",
        help="take real inputs from a .safetensors, .npz or .pt file; its keys are names of arguments of "
        "forward, or positions: 0, 1, ... Other arguments stay as NAME gives them",
    )
    _add_tolerance(parser)
    _add_baselines(parser)
    _add_outputs(parser)
    parser.add_argument(
        "--threads",
        type=positive,
        metavar="N",
        help="how many threads an operator may use on paths that compile, and in eager for compile:*; all "
        "others use one (default: as many as torch uses)",
    )
    add_time_limit_option(parser, "judging", 10)
    add_limit_options(parser)
    parser.add_argument(
        "--show-settings",
        action="store_true",
        help="print each setting that [tool.exportdiff] of pyproject.toml can have, its value, and where the "
        "value comes from; judge nothing",
    )
    parser.set_defaults(run=run)
    make_settable(parser)


def _add_tolerance(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how far values may be from those of eager."""
    parser.add_argument(
        "--atol",
        type=_bound,
        metavar="A",
        help="tolerate differences of A + R * abs(eager) in floating point numbers, on all paths, instead of "
        "what exportdiff derives; with one of --atol and --rtol, the other is 0",
    )
    parser.add_argument("--rtol", type=_bound, metavar="R", help="see --atol")
    parser.add_argument(
        "--metric",
        type=_metric,
        action="append",
        default=[],
        metavar="M=BOUND",
        help="tolerate a tensor if a measure of the whole is good enough: snr=40 (at least 40 dB), "
        "cosine=0.999 (at least), relative=0.01 (the largest difference is at most 0.01 of eager's largest "
        "element). Of several options, all must hold",
    )


def _bound(text: str) -> float:
    return _read(read_bound, text)


def _metric(text: str) -> tuple[Metric, float]:
    return _read(read_metric, text)


def _read(reader: Callable[[str], T], text: str) -> T:
    try:
        return reader(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _add_baselines(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which findings fail."""
    parser.add_argument(
        "--fail-on",
        choices=FAIL_ON,
        default="any",
        help="which findings fail: any; new: findings that no known bug explains, and those for which "
        "there was no time to search; silent: wrong results without an error (default: any)",
    )
    parser.add_argument(
        "--accept", type=pathlib.Path, metavar="FILE", help="do not fail for findings in this baseline"
    )
    parser.add_argument(
        "--write-baseline",
        type=pathlib.Path,
        metavar="FILE",
        help="write the findings that fail to a baseline for --accept, and exit with 0",
    )


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what is printed and written."""
    add_json_option(parser)
    parser.add_argument(
        "--junit", type=pathlib.Path, metavar="FILE", help="also write the result as JUnit XML"
    )
    parser.add_argument(
        "--sarif", type=pathlib.Path, metavar="FILE", help="also write the result as SARIF 2.1.0"
    )
    parser.add_argument(
        "--suggest",
        action="store_true",
        help="for known bugs with a workaround of one line or one option: print the change of your code as a "
        "diff, and judge the model with it",
    )
    parser.add_argument(
        "--html",
        type=pathlib.Path,
        metavar="FILE",
        help="also write the result as one HTML file, with a picture of what eager and the path did in each "
        "module; it needs no network",
    )
    parser.add_argument(
        "--minimize",
        type=duration,
        metavar="TIME",
        help="write a repro file for each finding that fails; make each as small as possible in TIME, e.g. "
        "60s",
    )
    parser.add_argument(
        "--repros",
        type=pathlib.Path,
        default=pathlib.Path("exportdiff-repros"),
        metavar="DIR",
        help="the folder of the repro files (default: exportdiff-repros)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Judge the model in fresh processes; return the exit code of the report."""
    target = Target.parse(_target(arguments))
    given = _given(arguments)
    settings, shapes = settle(arguments, target)
    if arguments.show_settings:
        print("\n".join(written(settings)))
        return 0
    with limited(**limits_given(arguments)):
        return _run(arguments, target, shapes, given)


def _given(arguments: argparse.Namespace) -> Given:
    """Return what the user gives besides the model. Raises UsageError."""
    atol, rtol, metrics = arguments.atol, arguments.rtol, tuple(arguments.metric)
    tolerance = Tolerance(atol, rtol, metrics) if (atol, rtol, metrics) != (None, None, ()) else None
    given = Given(arguments.program, arguments.inputs, tolerance, pathlib.Path.cwd())
    given.check()
    if given.options and arguments.minimize:
        option = given.options[0].partition(" ")[0]
        raise UsageError(
            f"--minimize cannot be combined with {option}: a repro file has only what NAME makes"
        )
    if given.program is not None and arguments.suggest:
        raise UsageError("--suggest cannot be combined with --program: a saved program stays as it is")
    return given


def _run(arguments: argparse.Namespace, target: Target, shapes: object, given: Given) -> int:
    paths = _paths(arguments, given)
    baseline = read_baseline(arguments.accept) if arguments.accept else NO_BASELINE
    # A wrong file is an error now, not after minutes.
    for option in ("junit", "sarif", "html"):
        check_writable(f"--{option}", getattr(arguments, option), pathlib.Path())
    if arguments.write_baseline:
        read_before_writing("--write-baseline", arguments.write_baseline)
    try:
        report = _judged(arguments, target, shapes, paths, baseline, given)
    except UsageError as error:
        # CI systems read the files, also if the model cannot be built.
        _write(arguments, target, assembled(target.written, paths, invalid=str(error)))
        raise
    suggested = _suggested(arguments, target, report, shapes) if arguments.suggest else None
    _write(arguments, target, report, suggested)
    if arguments.minimize:
        _minimize(arguments, target, report, shapes)
    if baseline.notice:
        print(baseline.notice, file=sys.stderr)
    if report.failing(arguments.fail_on) and (others := baseline.about_others(report.model)):
        print(others, file=sys.stderr)
    for each in no_longer_shown(report, baseline.of(report.model)):
        what = f"{each.check} {each.kind} on {', '.join(sorted(each.paths))}"
        print(f"{arguments.accept}: no longer found, delete it: {what}", file=sys.stderr)
    if arguments.write_baseline and report.judged:
        number = write_baseline(arguments.write_baseline, report, arguments.fail_on)
        print(f"{number} findings written to {arguments.write_baseline}", file=sys.stderr)
        return 0
    return report.exit_code(arguments.fail_on)


def _suggested(
    arguments: argparse.Namespace, target: Target, report: Report, shapes: object
) -> tuple[Suggestion, ...]:
    """Find changes and judge the model with them; print them, unless the report is printed as JSON."""
    from exportdiff.interfaces.checking.suggesting import suggestions

    threads, fail_on = arguments.threads or 0, arguments.fail_on
    found = suggestions(report, target, shapes, threads, arguments.limit, fail_on)
    lines = [line for each in found for line in ("", *each.lines())]
    if not found and report.failing(fail_on):
        lines = ["no change to suggest: no known bug here has a workaround of one line or one option"]
    if not arguments.json:
        print("\n".join(lines))
    return found


def _write(
    arguments: argparse.Namespace,
    target: Target,
    report: Report,
    suggested: tuple[Suggestion, ...] | None = None,
) -> None:
    """Write the files that the user asked for, and print the report as JSON."""
    if arguments.junit:
        from exportdiff.interfaces.reports.junit import write_junit

        write_junit(arguments.junit, [report], arguments.fail_on)
    if arguments.sarif:
        from exportdiff.interfaces.reports.sarif import write_sarif

        write_sarif(arguments.sarif, report, target, arguments.fail_on)
    if arguments.html:
        from exportdiff.interfaces.reports.page.model_page import write_model_page

        write_model_page(arguments.html, report, arguments.fail_on, default_corpora())
    if arguments.json:
        changes = {} if suggested is None else {"suggestions": [each.as_dict() for each in suggested]}
        print_json({**report.as_dict(), **changes})


def _target(arguments: argparse.Namespace) -> str:
    """Return TARGET, which may also be the last word after ``--paths``."""
    paths = getattr(arguments, "paths", [])
    last = paths[-1] if len(paths) > 1 else ""
    if arguments.target is None and last and not is_pattern(last) and not is_mode(re.split("[:+]", last)[0]):
        arguments.target = paths.pop()
    if arguments.target is None:
        raise UsageError("TARGET is missing: write FILE.py:NAME or package.module:NAME")
    written: str = arguments.target
    return written


def _paths(arguments: argparse.Namespace, given: Given) -> tuple[Path, ...]:
    if arguments.all and arguments.paths:
        raise UsageError("--all cannot be combined with --paths")
    globs = arguments.paths if arguments.all or arguments.paths else ("default",)
    return chosen_paths(globs, arguments.device, saved=given.paths)


def _judged(
    arguments: argparse.Namespace,
    target: Target,
    shapes: object,
    paths: tuple[Path, ...],
    baseline: Baseline,
    given: Given,
) -> Report:
    """Judge the model. Without ``--json``, print a row for each path when it is judged, then the findings."""
    # The server starts first: it imports torch while this process imports the modules below.
    server("exportdiff.interfaces.checking.explaining", "exportdiff.interfaces.checking.loading")
    from exportdiff.interfaces.checking.in_subprocess import judge_in_subprocess, loadable_model
    from exportdiff.interfaces.reports.check_progress import CheckProgress
    from exportdiff.interfaces.reports.model_report import print_report
    from exportdiff.interfaces.reports.text import left_out_line, make_console

    console = make_console(quiet=arguments.json)
    if arguments.all or arguments.paths:
        lacking = left_out(arguments.paths, expensive=True, switches=False)
        if line := left_out_line(torch_version(), lacking):
            console.print(line, markup=False, soft_wrap=True)
    corpora = default_corpora()
    progress = CheckProgress(console, paths, target.written, corpora, baseline, given.options)
    with interruptible() as stop, progress:
        report = judge_in_subprocess(
            loadable_model(target, shapes, arguments.threads or 0, given),
            paths,
            seconds=arguments.limit,
            corpora=corpora,
            on_step=progress.on_step,
            stop=stop,
        )
    report = with_accepted(report, baseline.of(report.model))
    if report.invalid:
        print(f"exportdiff check: {target.written}: {report.invalid}", file=sys.stderr)
    else:
        print_report(report, console, arguments.fail_on, corpora, progress.printed)
    return report


def _minimize(arguments: argparse.Namespace, target: Target, report: Report, shapes: object) -> None:
    """Write a repro file for each finding that fails; print the results on standard error."""
    from exportdiff.fuzzing.minimizing.program_file import read_program_file
    from exportdiff.interfaces.checking.reproducing import FactorySource, NoSourceError, write_repro
    from exportdiff.judging.checks.alive import ALIVE

    findings = [each.finding for each in report.failing(arguments.fail_on) if each.finding.check != ALIVE]
    if not target.module.endswith(".py"):
        print("--minimize needs the file of the model: write FILE.py:NAME", file=sys.stderr)
        return
    if shapes is not None:
        print("--minimize needs dynamic_shapes in the file of the model: define it there", file=sys.stderr)
        return
    file = pathlib.Path(target.module).resolve()
    source = FactorySource(read_program_file(f"{file}:{target.name}").source, file, target.name)
    for finding in findings:
        try:
            repro = arguments.repros / f"{finding.fingerprint}.py"
            written = write_repro(source, finding, repro, arguments.minimize)
        except NoSourceError as error:
            print(f"{finding.fingerprint}: no repro file: {error}", file=sys.stderr)
            continue
        except OSError as error:
            raise UsageError(f"--repros {arguments.repros}: {error.strerror or error}") from None
        remark = f" (it does not show the finding: {written.problem})" if written.problem else ""
        print(f"{finding.fingerprint}: python {written.file}{remark}", file=sys.stderr)

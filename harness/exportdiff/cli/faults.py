"""``exportdiff faults``: plant bugs in torch, and measure whether fuzzing detects them."""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from importlib.metadata import version
from typing import TYPE_CHECKING

from exportdiff.cli.arguments import (
    add_json_option,
    add_path_options,
    add_seed_option,
    add_workers_option,
    chosen_paths,
    duration,
    positive,
    print_json,
)
from exportdiff.cli.corpus_fit import try_untried_fixes
from exportdiff.core.errors import UsageError
from exportdiff.known.corpus.entry import default_corpora

# Functions import the modules that import torch or rich, so that ``exportdiff --help`` starts fast.
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from exportdiff.cli.types import Subparsers
    from exportdiff.lab.faults import Fault
    from exportdiff.lab.faults.detection import Detection

SECONDS = 60.0


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "faults",
        help="plant bugs in torch, and measure how soon fuzzing detects them",
        description="Plant each fault in torch, in a separate process, and fuzz until a check detects it.",
    )
    parser.add_argument("--list", action="store_true", help="print one line for each fault; plant nothing")
    parser.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="GLOB",
        help="plant only the faults whose names match GLOB; may be repeated (default: all)",
    )
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument(
        "--time", type=duration, metavar="TIME", help="fuzz for at most TIME for each fault (default: 60s)"
    )
    budget.add_argument(
        "--examples", type=positive, metavar="N", help="draw at most N programs for each fault"
    )
    add_seed_option(parser)
    add_workers_option(parser, "number of faults at a time")
    add_json_option(parser)
    add_path_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the table; return 0 if all faults were detected, 1 if not, 3 if exportdiff itself failed."""
    chosen = _chosen(arguments.fault)
    if arguments.list:
        _list(chosen)
        return 0
    results = _detect(arguments, chosen)
    if arguments.json:
        print_json(_document(arguments, chosen, results))
    else:
        _print_table(results)
    errors = [error for result in results for error in result.errors]
    if errors:
        print(f"exportdiff itself failed {len(errors)} times; the first error: {errors[0]}", file=sys.stderr)
        return 3
    return 0 if all(result.findings for result in results) else 1


def _chosen(globs: Sequence[str]) -> tuple[Fault, ...]:
    from exportdiff.lab.faults import FAULTS

    for glob in globs:
        if not any(fnmatchcase(name, glob) for name in FAULTS):
            raise UsageError(f"--fault {glob!r} names no fault; exportdiff faults --list shows them all")
    return tuple(
        fault for name, fault in FAULTS.items() if not globs or any(fnmatchcase(name, glob) for glob in globs)
    )


def _list(faults: Sequence[Fault]) -> None:
    rows = [(fault.name, fault.check, fault.paths) for fault in faults]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for fault, row in zip(faults, rows, strict=True):
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print(f"{cells}  {fault.why}{f' ({fault.cites})' if fault.cites else ''}")


def _detect(arguments: argparse.Namespace, faults: Sequence[Fault]) -> list[Detection]:
    from exportdiff.fuzzing.campaign.worker import Job
    from exportdiff.lab.faults.detection import DetectionSettings, detect_all

    corpora = default_corpora()
    seconds = None if arguments.examples else arguments.time or SECONDS
    job = Job(
        arguments.seed,
        chosen_paths(arguments.paths, arguments.device, expensive=False),
        # Known bugs hide planted ones, so their fixes are installed.
        corpora=corpora.resolve() if corpora else None,
    )
    try_untried_fixes(job.corpora, arguments.workers)
    results = []
    names = [fault.name for fault in faults]
    for result in detect_all(names, DetectionSettings(job, seconds, arguments.examples), arguments.workers):
        results.append(result)
        # The table is printed at the end, perhaps an hour later.
        word = "caught" if result.findings else "MISSED"
        outcome = f"{word} {result.fault} after {result.programs} programs, {result.seconds:.1f} s"
        print(f"[{len(results)}/{len(faults)}] {outcome}", file=sys.stderr, flush=True)
    return results


def _document(
    arguments: argparse.Namespace, faults: Sequence[Fault], results: Sequence[Detection]
) -> dict[str, object]:
    return {
        "torch": version("torch"),
        "seed": arguments.seed,
        "caught": sum(bool(result.findings) for result in results),
        "missed": sum(not result.findings for result in results),
        "faults": [_entry(fault, result) for fault, result in zip(faults, results, strict=True)],
    }


def _entry(fault: Fault, result: Detection) -> dict[str, object]:
    return {
        "fault": fault.name,
        "why": fault.why,
        "cites": fault.cites,
        "programs": result.programs,
        "seconds": round(result.seconds, 3),
        "caught_by": [
            {
                "path": str(finding.path),
                "check": finding.check,
                "kind": finding.kind,
                "message": finding.message,
            }
            for finding in result.findings
        ],
    }


def _print_table(results: Sequence[Detection]) -> None:
    from exportdiff.interfaces.reports.text import make_console, table

    console = make_console()
    rows = table("fault", "caught by", "check", "programs", "seconds")
    for result in results:
        first = next(iter(result.findings), None)
        path, check = (str(first.path), first.check) if first is not None else ("MISSED", "")
        style = "bold red" if first is None else None
        rows.add_row(result.fault, path, check, str(result.programs), f"{result.seconds:.1f}", style=style)
    console.print(rows)
    caught = sum(bool(result.findings) for result in results)
    console.print(f"{caught} of {len(results)} caught", highlight=False)

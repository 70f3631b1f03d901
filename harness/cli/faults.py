"""``exportdiff faults``: plant bugs in torch, fuzz, and see which are noticed."""

from __future__ import annotations

import json
import sys
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from harness.cli.arguments import add_path_options, chosen_paths, duration, natural, positive, workers
from harness.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from harness.cli.types import Subparsers
    from harness.engine.detection import Hunted
    from harness.faults import Fault

SECONDS = 60.0


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser("faults", help="plant bugs in torch; how soon does fuzzing notice each?")
    parser.add_argument("--list", action="store_true", help="print one line a fault; plant none")
    parser.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="GLOB",
        help="only faults with names like this; may be repeated (default: all)",
    )
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument(
        "--time", type=duration, metavar="TIME", help="give each fault so long (default: 60s)"
    )
    budget.add_argument("--examples", type=positive, metavar="N", help="give each fault N programs")
    parser.add_argument("--seed", type=natural, default=0, metavar="S", help="default: 0")
    parser.add_argument(
        "--workers",
        type=workers,
        default="auto",
        metavar="N",
        help="faults to hunt at a time, or auto: one a core (default: auto)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    add_path_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the table; return 0 if all are caught, 1 if some are not, 2 if exportdiff itself failed."""
    chosen = _chosen(arguments.fault)
    if arguments.list:
        _list(chosen)
        return 0
    results = _hunt(arguments, chosen)
    if arguments.json:
        print(json.dumps(_document(arguments, chosen, results), indent=1, ensure_ascii=False))
    else:
        _print_table(results)
    errors = [error for result in results for error in result.errors]
    if errors:
        print(f"exportdiff itself failed {len(errors)} times; the first: {errors[0]}", file=sys.stderr)
        return 2
    return 0 if all(result.findings for result in results) else 1


def _chosen(globs: Sequence[str]) -> tuple[Fault, ...]:
    from harness.faults import FAULTS

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


def _hunt(arguments: argparse.Namespace, faults: Sequence[Fault]) -> list[Hunted]:
    from harness.engine.detection import Settings, hunt_all
    from harness.engine.worker import Job

    seconds = None if arguments.examples else arguments.time or SECONDS
    job = Job(arguments.seed, chosen_paths(arguments.paths, arguments.device, expensive=False))
    results = []
    names = [fault.name for fault in faults]
    for result in hunt_all(names, Settings(job, seconds, arguments.examples), arguments.workers):
        results.append(result)
        # The table comes at the end, which may be an hour away.
        word = "caught" if result.findings else "MISSED"
        told = f"{word} {result.fault} after {result.programs} programs, {result.seconds:.1f} s"
        print(f"[{len(results)}/{len(faults)}] {told}", file=sys.stderr, flush=True)
    return results


def _document(
    arguments: argparse.Namespace, faults: Sequence[Fault], results: Sequence[Hunted]
) -> dict[str, object]:
    from importlib.metadata import version

    return {
        "torch": version("torch"),
        "seed": arguments.seed,
        "caught": sum(bool(result.findings) for result in results),
        "missed": sum(not result.findings for result in results),
        "faults": [_entry(fault, result) for fault, result in zip(faults, results, strict=True)],
    }


def _entry(fault: Fault, result: Hunted) -> dict[str, object]:
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


def _print_table(results: Sequence[Hunted]) -> None:
    from harness.reporting.text import make_console, table

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

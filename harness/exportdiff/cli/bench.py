"""``exportdiff bench``: measure exportdiff itself."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import TYPE_CHECKING

from exportdiff.cli.arguments import add_seed_option, add_workers_option, duration
from exportdiff.core.errors import UsageError
from exportdiff.known.corpus.entry import default_corpora

# Functions import the modules that import torch or rich, so that ``exportdiff --help`` starts fast.
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

    from rich.console import Console

    from exportdiff.cli.types import Subparsers
    from exportdiff.lab.bench.figures import Rows
    from exportdiff.lab.bench.registry import Measurement
    from exportdiff.lab.bench.run import Measured

WIDTH = 80


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "bench",
        help="measure exportdiff itself: cost, bugs found, growth, coverage",
        description="Measure exportdiff on this machine: what a program costs, how soon known and planted "
        "bugs are found, how the cost grows, and how much of torch.export is run. Takes up to four minutes "
        "on two idle cores. After Ctrl-C, the results so far are printed and written to --out. With --only "
        "gpu, it instead asks what programs show on a GPU and not on the CPU. With --only refusals, it "
        "instead asks which programs the fixes of the corpus refuse, and which fixes refuse wrongly; with "
        "--out FILE, a later run continues. With --only edits, it instead asks which one-line mistakes in "
        "torch fuzz --against finds; with --out FILE, a later run continues.",
    )
    parser.add_argument(
        "--full", action="store_true", help="measure for two to three hours, for numbers that can be quoted"
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="make only this measurement; may be repeated; a wrong name prints all names",
    )
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="write all results to FILE, as JSON")
    parser.add_argument(
        "--device",
        choices=("cuda", "second", "auto"),
        default="auto",
        help="where the measurement gpu runs; second: on a simulated device in the CPU's memory, which needs "
        "g++ and ninja (default: auto, on CUDA)",
    )
    parser.add_argument(
        "--time",
        type=duration,
        metavar="TIME",
        help="how long the measurement gpu or refusals takes; edits starts no edit afterwards (default: 7m)",
    )
    add_workers_option(parser)
    add_seed_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print a table, and write the JSON document after every measurement.

    Return what gpu, refusals and edits return, 3 if a measurement failed, 130 if the command was interrupted.
    """
    from exportdiff.lab.bench.context import REQUESTED_SECONDS, Context
    from exportdiff.lab.bench.machine import describe, is_busy
    from exportdiff.lab.bench.run import Measured, document, measure_all
    from exportdiff.lab.bench.scale import FULL, QUICK

    chosen = _chosen(arguments.only)
    if arguments.out is not None and not arguments.out.absolute().parent.is_dir():
        raise UsageError(f"--out {arguments.out}: its folder does not exist")
    corpora, out = default_corpora(), arguments.out
    machine = describe()
    measured: list[Measured] = []

    def write(unfinished: Sequence[Measured] = ()) -> None:
        if out is not None:
            text = json.dumps(
                document([*measured, *unfinished], context, machine), indent=1, ensure_ascii=False
            )
            out.write_text(text + "\n", encoding="utf-8")

    context = Context(
        FULL if arguments.full else QUICK,
        arguments.workers,
        arguments.seed,
        corpora.resolve() if corpora else None,
        device=arguments.device,
        seconds=arguments.time or REQUESTED_SECONDS,
        programs=None if out is None else out.with_name(f"{out.stem}-programs"),
        report=lambda result: write([Measured(chosen[len(measured)], result, 0.0)]),
    )
    for each in measure_all(chosen, context):
        measured.append(each)
        print(f"{each.measurement.name}: {each.seconds:.0f} s", file=sys.stderr, flush=True)
        write()
    _print(measured, machine, busy=is_busy(machine), quick=not arguments.full)
    failed = [each for each in measured if each.error]
    for each in failed:
        print(f"{each.measurement.name} failed: {each.error}", file=sys.stderr)
    if any(each.result.interrupted for each in measured):
        print("interrupted: the table shows what was measured before", file=sys.stderr)
        return 130
    return 3 if failed else max(each.result.exit_code for each in measured)


def _chosen(names: Sequence[str]) -> tuple[Measurement, ...]:
    from exportdiff.lab.bench.registry import MEASUREMENTS

    known = {each.name: each for each in MEASUREMENTS}
    for name in names:
        if name not in known:
            raise UsageError(f"--only {name}: there is no such measurement; there are {', '.join(known)}")
    return tuple(each for each in MEASUREMENTS if each.name in names or not (names or each.on_request))


def _print(measured: Sequence[Measured], machine: dict[str, Any], *, busy: bool, quick: bool) -> None:
    from rich.console import Console
    from rich.markup import escape

    from exportdiff.interfaces.reports.text import table

    console = Console(emoji=False)
    if not console.is_terminal or console.width > WIDTH:
        console = Console(width=WIDTH, emoji=False)
    rows = table("figure", "value", "wanted")
    for each in measured:
        rows.add_row(f"[bold]{each.measurement.name}[/]: {each.measurement.question}", "", "")
        for figure in each.result.figures:
            rows.add_row(*map(escape, (f"  {figure.name}", figure.text, figure.wanted)))
            if figure.note:
                rows.add_row(f"[dim]    {escape(figure.note)}[/]", "", "")
    console.print(rows)
    for each in measured:
        for listed in each.result.tables:
            _print_rows(listed, console)
    console.print()
    line = "torch {torch}, Python {python}, {cores} cores, load {load_before} at the start"
    console.print(line.format(**machine), highlight=False)
    if busy:
        console.print(
            "The machine was busy, so it judged fewer programs per second than it can.", highlight=False
        )
    if quick:
        text = "Rough numbers; in brackets: the range of 90 % of the resamples. --full measures longer."
        console.print(text, highlight=False)


def _print_rows(listed: Rows, console: Console) -> None:
    from rich.markup import escape

    from exportdiff.interfaces.reports.text import table

    console.print()
    console.print(listed.title, style="bold")
    rows = table(*listed.header)
    for row in listed.rows:
        rows.add_row(*(escape(str(cell)) for cell in row))
    console.print(rows)

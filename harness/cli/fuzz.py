"""``exportdiff fuzz``: a campaign."""

from __future__ import annotations

import pathlib
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from harness.cli.arguments import (
    add_path_options,
    add_profile_option,
    chosen_paths,
    chosen_profile,
    duration,
    duration_or_none,
    natural,
    positive,
    shard,
    workers,
)
from harness.errors import UsageError
from harness.known.entry import CORPORA, FIXES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from types import FrameType

    from harness.cli.types import Subparsers


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser("fuzz", help="draw random models and compare eager to exported")
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument("--examples", type=positive, metavar="N", help="stop after N programs")
    budget.add_argument(
        "--time", type=duration, metavar="TIME", help="stop after 90s, 10m, 1h (default: never)"
    )
    parser.add_argument(
        "--seed", type=natural, default=0, metavar="S", help="same seed, same programs (default: 0)"
    )
    parser.add_argument(
        "--workers",
        type=workers,
        default="auto",
        metavar="N",
        help="processes, or auto: one a core (default: auto)",
    )
    add_path_options(parser)
    add_profile_option(parser)
    parser.add_argument(
        "--out",
        type=pathlib.Path,
        default=pathlib.Path("exportdiff-out"),
        metavar="DIR",
        help="folder for summary.json, events.ndjson and findings/ (default: exportdiff-out)",
    )
    parser.add_argument(
        "--shard",
        type=shard,
        default=(1, 1),
        metavar="I/N",
        help="run every N-th example only, the I-th of each N",
    )
    parser.add_argument(
        "--minimize",
        type=duration_or_none,
        default=60.0,
        metavar="TIME",
        help="for the program of each new finding, at the end; 0: none (default: 60s)",
    )
    parser.add_argument(
        "--corpora",
        type=pathlib.Path,
        default=CORPORA,
        metavar="DIR",
        help="the corpus whose bugs are known (default: corpora/)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run a campaign; return 0 (nothing new), 1 (new findings) or 2 (the harness failed)."""
    from harness.engine.campaign import Campaign, Settings
    from harness.patching.fixes import read_fixes
    from harness.processes.pool import server
    from harness.reporting.console import ConsoleReport
    from harness.reporting.folder import Folder
    from harness.reporting.ndjson import NdjsonLog
    from harness.reporting.repro_files import ReproFiles
    from harness.reporting.summary import SummaryFile, Tally
    from harness.reporting.text import make_console

    if arguments.corpora != CORPORA and not arguments.corpora.is_dir():
        raise UsageError(f"--corpora {arguments.corpora}: there is no such folder")
    read_fixes(arguments.corpora / FIXES)  # what cannot be read is told here, not by every worker
    server()  # it imports torch while we do
    settings = Settings(
        paths=chosen_paths(arguments.paths, arguments.device, expensive=False),
        seed=arguments.seed,
        examples=arguments.examples,
        seconds=arguments.time,
        workers=arguments.workers,
        device=arguments.device,
        profile=chosen_profile(arguments.profile),
        shard=arguments.shard,
        minimize_seconds=arguments.minimize,
        corpora=arguments.corpora.resolve() if arguments.corpora.is_dir() else None,
    )
    folder = Folder(arguments.out)
    folder.prepare()
    tally = Tally(folder.root, arguments.corpora)
    listeners = (
        tally,
        NdjsonLog(folder.log),
        ReproFiles(folder),
        SummaryFile(folder, tally),
        ConsoleReport(make_console(), folder, tally),
    )
    with _interruptible() as stop:
        for event in Campaign(settings, stop=stop).run():
            for listener in listeners:
                listener(event)
    if tally.harness_errors:
        return 2
    return 1 if tally.new else 0


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C into a clean end; the second ends at once."""
    stop = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)

"""``exportdiff fuzz``: run a campaign."""

from __future__ import annotations

import errno
import pathlib
from dataclasses import replace
from typing import TYPE_CHECKING

from exportdiff.cli.arguments import (
    add_around_option,
    add_corpora_option,
    add_file_options,
    add_path_options,
    add_profile_option,
    add_seed_option,
    chosen_paths,
    chosen_profile,
    duration,
    duration_or_none,
    left_out,
    mebibytes,
    natural,
    positive,
    shard,
    workers_or_auto,
)
from exportdiff.cli.around import chosen_around
from exportdiff.cli.trying import try_first
from exportdiff.core.errors import UsageError
from exportdiff.core.programs import DEFAULT_PROFILE
from exportdiff.fuzzing.campaign.engines import ENGINES, MODULES
from exportdiff.fuzzing.campaign.settings import KNOWN_EVERY, MINIMIZED, CampaignSettings
from exportdiff.fuzzing.other_torch.probe import interpreter_to_compare
from exportdiff.interfaces.output_files import check_writable
from exportdiff.interfaces.reports.folder import Folder
from exportdiff.known.corpus.entry import CORPORA, FIXES
from exportdiff.runtime.patching.fixes import read_candidates
from exportdiff.runtime.processes.limits import Limits
from exportdiff.runtime.processes.server import server

# Functions import the modules that import torch or rich, so that ``exportdiff --help`` starts fast.
if TYPE_CHECKING:
    import argparse

    from exportdiff.cli.types import Subparsers
    from exportdiff.fuzzing.other_torch.probe import Interpreter

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)
"""What an unwritable or full disk says."""
MAY_DIFFER = ("resume", "workers", "engine", "address", "summary", "junit", "help")
"""The options that may stand beside ``--resume``."""


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "fuzz",
        help="draw random models, and compare eager with exported",
        description="Draw random models, run each eagerly and along other paths, and report every difference "
        "that the corpus does not explain. Exit code: 0 nothing new, 1 new findings, 2 an argument is wrong, "
        "3 exportdiff itself failed.",
    )
    _add_budget(parser)
    _add_engine(parser)
    add_path_options(parser)
    add_profile_option(parser)
    add_around_option(parser)
    _add_results(parser)
    _add_known(parser)
    add_file_options(parser)
    parser.add_argument(
        "--resume",
        type=pathlib.Path,
        metavar="DIR",
        help="go on with the campaign that was interrupted or killed, in its folder DIR, with its settings; "
        "only --workers, --engine, --address, --summary and --junit may be others",
    )
    parser.set_defaults(run=run, parser=parser)


def _add_budget(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which programs are drawn, and how many."""
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument("--examples", type=positive, metavar="N", help="stop after N programs")
    budget.add_argument(
        "--time", type=duration, metavar="TIME", help="stop after 90s, 10m, 1h (default: never)"
    )
    add_seed_option(parser)
    parser.add_argument(
        "--shard",
        type=shard,
        default=(1, 1),
        metavar="I/N",
        help="split the examples into N parts, and run part I only",
    )


def _add_engine(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where programs run."""
    parser.add_argument(
        "--workers",
        type=workers_or_auto,
        default="auto",
        metavar="N",
        help="number of processes; auto: one for each core, of the whole cluster with --engine ray "
        "(default: auto)",
    )
    parser.add_argument(
        "--engine",
        choices=tuple(ENGINES),
        default="local",
        help="where programs run: on this machine, or on a Ray cluster (pip install 'exportdiff[ray]'); the "
        "findings are the same (default: local)",
    )
    parser.add_argument(
        "--address",
        metavar="HOST:PORT",
        help="of the Ray cluster, or auto (default: --engine ray starts one on this machine)",
    )
    parser.add_argument(
        "--memory",
        type=mebibytes,
        default=Limits().memory,
        metavar="SIZE",
        help="a program that takes more memory than 800M or 4G is ended, and is a finding (default: "
        f"{Limits().memory // 1024}G)",
    )


def _add_results(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where findings go, and how long they are minimized."""
    parser.add_argument(
        "--out",
        type=pathlib.Path,
        default=pathlib.Path("exportdiff-out"),
        metavar="DIR",
        help="write summary.json, events.ndjson and findings/ to this folder (default: exportdiff-out)",
    )
    parser.add_argument(
        "--minimize",
        type=duration_or_none,
        default=60.0,
        metavar="TIME",
        help="at the end, spend TIME on minimizing the program of each new or masked finding; 0: do not "
        "minimize (default: 60s)",
    )
    parser.add_argument(
        "--minimize-total",
        type=duration,
        metavar="TIME",
        help="stop minimizing after TIME; as many findings as there are workers are minimized at a time "
        f"(default: {MINIMIZED} times the time of --minimize)",
    )


def _add_known(parser: argparse.ArgumentParser) -> None:
    """Add the options about known bugs, and about another torch."""
    add_corpora_option(parser, "the corpus of the known bugs")
    parser.add_argument(
        "--plain",
        action="store_true",
        help="judge torch as it is, without the candidate fixes of the corpus",
    )
    parser.add_argument(
        "--known-every",
        type=natural,
        default=KNOWN_EVERY,
        metavar="K",
        help="on every K-th program, find out which known bugs torch shows without the fixes; 0: never "
        f"(default: {KNOWN_EVERY})",
    )
    parser.add_argument(
        "--against",
        type=pathlib.Path,
        metavar="PYTHON",
        help="the Python interpreter of an environment with another torch: say which findings it shows, what "
        "broke since, and what was fixed",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run a campaign; return 0 (nothing new), 1 (new findings) or 3 (exportdiff itself failed)."""
    resumed = arguments.resume is not None
    if resumed:
        _check_alone(arguments)
    elif arguments.corpora != CORPORA and not arguments.corpora.is_dir():
        raise UsageError(f"--corpora {arguments.corpora}: there is no such folder")
    if arguments.around and arguments.profile != DEFAULT_PROFILE:
        raise UsageError("--profile does not go with --around: no programs are drawn")
    against = (
        interpreter_to_compare(arguments.against, "--against") if arguments.against is not None else None
    )
    # Here, so that a broken fix is reported once, not by every worker.
    read_candidates(arguments.corpora / FIXES)
    # Before the imports below, so that the server and this process import torch at the same time.
    server(*MODULES)
    from exportdiff.cli.campaign_run import run_campaign
    from exportdiff.fuzzing.campaign.journal import Journal

    engine = ENGINES[arguments.engine](arguments.address)
    workers = arguments.workers or engine.cores
    folder = Folder(arguments.resume if resumed else arguments.out)
    check_writable("--summary", arguments.summary, folder.root)
    check_writable("--junit", arguments.junit, folder.root)
    try:
        if resumed:
            journal = Journal.read(folder.journal)
            print(f"going on in {folder.root}", flush=True)
            settings = replace(journal.begun.settings, workers=workers)
        else:
            settings = _settings(arguments, against, workers)
            if arguments.around:
                settings = replace(settings, around=chosen_around(arguments.around), profile=DEFAULT_PROFILE)
            try_first(settings.corpora, settings.workers)
            folder.prepare()
            journal = Journal.begin(folder.journal, settings)
        with journal:
            return run_campaign(settings, journal, folder, arguments.summary, arguments.junit, engine.start)
    except OSError as error:
        if error.errno not in NO_ROOM and not _is_in(folder.root, error):
            raise
        raise UsageError(
            f"{error.filename or folder.root}: {error.strerror}; nothing that was written is lost. When that "
            f"is mended: exportdiff fuzz --resume {folder.root}"
        ) from None


def _is_in(folder: pathlib.Path, error: OSError) -> bool:
    """Whether the error is about a file of the campaign: the folder was removed, or may not be written."""
    name = error.filename
    return isinstance(name, str | pathlib.PurePath) and pathlib.Path(name).is_relative_to(folder)


def _check_alone(arguments: argparse.Namespace) -> None:
    """Raise UsageError if an option stands beside ``--resume`` that would make it another campaign."""
    parser = arguments.parser
    for action in parser._actions:
        given = getattr(arguments, action.dest, None) != action.default
        if given and action.dest not in MAY_DIFFER:
            raise UsageError(
                f"{action.option_strings[0]} does not go with --resume: the campaign keeps its settings"
            )


def _settings(arguments: argparse.Namespace, against: Interpreter | None, workers: int) -> CampaignSettings:
    return CampaignSettings(
        paths=chosen_paths(arguments.paths, arguments.device, expensive=False),
        seed=arguments.seed,
        examples=arguments.examples,
        seconds=arguments.time,
        workers=workers,
        memory=arguments.memory,
        device=arguments.device,
        profile=chosen_profile(arguments.profile),
        shard=arguments.shard,
        minimize_seconds=arguments.minimize,
        minimize_total_seconds=arguments.minimize_total,
        corpora=arguments.corpora.resolve() if arguments.corpora.is_dir() else None,
        plain=arguments.plain,
        known_every=arguments.known_every,
        against=against,
        left_out=left_out(arguments.paths, expensive=False, switches=True),
    )

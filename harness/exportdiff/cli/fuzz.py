"""``exportdiff fuzz``: run a campaign."""

from __future__ import annotations

import errno
import pathlib
from dataclasses import replace
from typing import TYPE_CHECKING

from exportdiff.cli.arguments import (
    add_around_option,
    add_ci_file_options,
    add_corpora_option,
    add_near_option,
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
from exportdiff.cli.corpus_fit import try_untried_fixes
from exportdiff.core.errors import UsageError
from exportdiff.core.programs import DEFAULT_PROFILE
from exportdiff.fuzzing.campaign.engines import ENGINES, MODULES
from exportdiff.fuzzing.campaign.learning import earlier
from exportdiff.fuzzing.campaign.settings import KNOWN_EVERY, MINIMIZED, CampaignSettings
from exportdiff.fuzzing.other_torch.probe import interpreter_to_compare
from exportdiff.interfaces.output_files import check_writable
from exportdiff.interfaces.reports.folder import Folder
from exportdiff.interfaces.reports.learned_file import read_learned
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
"""Errors of a disk that is full, broken or read-only."""
MAY_DIFFER = ("resume", "workers", "engine", "address", "summary", "junit", "help")
"""The options that can be combined with ``--resume``."""


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "fuzz",
        help="draw random models, and compare eager with exported",
        description="Draw random models, run each eagerly and along other paths, and report every difference "
        "that no known bug explains. While the models run, the candidate fixes of the known bugs are "
        "installed in torch, so that these bugs hide nothing. A finding is new if torch without the fixes "
        "shows it too, and masked if a known bug hides it there.",
    )
    _add_budget(parser)
    _add_engine(parser)
    add_path_options(parser)
    add_profile_option(parser)
    add_around_option(parser)
    add_near_option(parser)
    _add_results(parser)
    _add_known(parser)
    add_ci_file_options(parser)
    parser.add_argument(
        "--resume",
        type=pathlib.Path,
        metavar="DIR",
        help="continue the interrupted or killed campaign in the folder DIR, with its settings; can be "
        "combined with --workers, --engine, --address, --summary and --junit only",
    )
    parser.set_defaults(run=run, parser=parser)


def _add_budget(parser: argparse.ArgumentParser) -> None:
    """Add the options about how many programs are drawn, and which."""
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument("--examples", type=positive, metavar="N", help="stop after N programs")
    budget.add_argument(
        "--time", type=duration, metavar="TIME", help="stop after TIME, e.g. 90s, 10m or 1h (default: never)"
    )
    add_seed_option(parser)
    parser.add_argument(
        "--shard",
        type=shard,
        default=(1, 1),
        metavar="I/N",
        help="split the programs into N parts, and run only part I",
    )
    parser.add_argument(
        "--learned",
        type=pathlib.Path,
        metavar="FILE",
        help="the learned.json of an earlier campaign: start with paths that showed more there (default: "
        "start with the usual rates; every campaign learns while it runs)",
    )


def _add_engine(parser: argparse.ArgumentParser) -> None:
    """Add the options about where programs run."""
    parser.add_argument(
        "--workers",
        type=workers_or_auto,
        default="auto",
        metavar="N",
        help="number of processes; auto: one for each core, with --engine ray of the whole cluster "
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
        help="the address of the Ray cluster, or auto (default: --engine ray starts a cluster on this "
        "machine)",
    )
    parser.add_argument(
        "--memory",
        type=mebibytes,
        default=Limits().memory,
        metavar="SIZE",
        help="end a program that takes more memory than SIZE, e.g. 800M or 4G, and report a finding "
        f"(default: {Limits().memory // 1024}G)",
    )


def _add_results(parser: argparse.ArgumentParser) -> None:
    """Add the options about where findings are written, and how long they are minimized."""
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
        help="at the end, minimize the program of each new or masked finding for at most TIME; 0: do not "
        "minimize (default: 60s)",
    )
    parser.add_argument(
        "--minimize-total",
        type=duration,
        metavar="TIME",
        help="minimize for at most TIME in all, and for the last third of --time at most; each worker "
        f"minimizes one finding at a time (default: {MINIMIZED} times the value of --minimize)",
    )


def _add_known(parser: argparse.ArgumentParser) -> None:
    """Add the options about known bugs and about another version of torch."""
    add_corpora_option(parser, "the corpus of the known bugs")
    parser.add_argument(
        "--plain",
        action="store_true",
        help="judge torch as it is, without the candidate fixes of the known bugs",
    )
    parser.add_argument(
        "--known-every",
        type=natural,
        default=KNOWN_EVERY,
        metavar="K",
        help="judge every K-th program also without the fixes, to count the known bugs that it shows; "
        f"0: never (default: {KNOWN_EVERY})",
    )
    parser.add_argument(
        "--against",
        type=pathlib.Path,
        metavar="PYTHON",
        help="the Python interpreter of an environment with another version of torch: report which findings "
        "that version shows, what broke since, and what was fixed",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run a campaign; return 0 (nothing new), 1 (new findings), 2 (no program was judged) or 3 (an error)."""
    resumed = arguments.resume is not None
    if resumed:
        _check_alone(arguments)
    elif arguments.corpora != CORPORA and not arguments.corpora.is_dir():
        raise UsageError(f"--corpora {arguments.corpora}: there is no such folder")
    _check_programs(arguments)
    against = (
        interpreter_to_compare(arguments.against, "--against") if arguments.against is not None else None
    )
    # A broken fix is reported here, once, and not by every worker.
    read_candidates(arguments.corpora / FIXES)
    # The server starts before the imports below, so that both import torch at the same time.
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
            print(f"continuing in {folder.root}", flush=True)
            settings = replace(journal.begun.settings, workers=workers)
        else:
            settings = _settings(arguments, against, workers)
            if arguments.around:
                settings = replace(settings, around=chosen_around(arguments.around), profile=DEFAULT_PROFILE)
            if arguments.near is not None:
                from exportdiff.fuzzing.near.loading import read_near

                settings = replace(settings, near=read_near(arguments.near, settings.corpora))
            try_untried_fixes(settings.corpora, settings.workers)
            folder.prepare()
            journal = Journal.begin(folder.journal, settings)
        with journal:
            return run_campaign(settings, journal, folder, arguments.summary, arguments.junit, engine.start)
    except OSError as error:
        if error.errno not in NO_ROOM and not _is_in(folder.root, error):
            raise
        raise UsageError(
            f"{error.filename or folder.root}: {error.strerror}; nothing that was written is lost. To "
            f"continue when the disk works again: exportdiff fuzz --resume {folder.root}"
        ) from None


def _check_programs(arguments: argparse.Namespace) -> None:
    """Raise UsageError if two options say which programs are judged."""
    chosen = [f"--{name}" for name in ("around", "near") if getattr(arguments, name) not in ("", None)]
    if len(chosen) > 1:
        raise UsageError("--around cannot be combined with --near: give only one of them")
    if chosen and arguments.profile != DEFAULT_PROFILE:
        raise UsageError(f"--profile cannot be combined with {chosen[0]}, which draws no programs")


def _is_in(folder: pathlib.Path, error: OSError) -> bool:
    """Whether the error is about a file of the campaign, for example because its folder was removed."""
    name = error.filename
    return isinstance(name, str | pathlib.PurePath) and pathlib.Path(name).is_relative_to(folder)


def _check_alone(arguments: argparse.Namespace) -> None:
    """Raise UsageError for an option that ``--resume`` cannot be combined with."""
    parser = arguments.parser
    for action in parser._actions:
        given = getattr(arguments, action.dest, None) != action.default
        if given and action.dest not in MAY_DIFFER:
            raise UsageError(
                f"{action.option_strings[0]} cannot be combined with --resume: the campaign keeps its "
                "settings"
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
        learned=earlier(read_learned(arguments.learned)) if arguments.learned else {},
    )

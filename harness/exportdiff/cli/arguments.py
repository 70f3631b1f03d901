"""Argument types, options and output that several commands share."""

from __future__ import annotations

import argparse
import json
import pathlib
import re
from typing import TYPE_CHECKING, Any

from exportdiff.core.durations import seconds_of
from exportdiff.core.errors import UsageError
from exportdiff.core.programs import DEFAULT_PROFILE, profile_names, switches_needing
from exportdiff.interfaces.checking.path_choice import chosen
from exportdiff.known.corpus.entry import CORPORA, default_corpora
from exportdiff.runtime.processes.limits import most_of_the_machine
from exportdiff.runtime.processes.processors import processors

# Functions import the modules that import torch, so that ``exportdiff --help`` starts fast.
if TYPE_CHECKING:
    from collections.abc import Sequence

    from exportdiff.core.path import Path

LEAST_MEMORY = 512
"""MiB: a process with torch imported takes half of it."""


def duration(text: str) -> float:
    """Return the seconds that ``90s``, ``10m``, ``1h`` or a bare number stands for; more than 0."""
    try:
        seconds = seconds_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not seconds:
        raise argparse.ArgumentTypeError(f"{text!r} is too short; write 90s, 10m or 1h")
    return seconds


def duration_or_none(text: str) -> float:
    """Return the seconds that a duration stands for; ``0`` is allowed."""
    return 0.0 if text == "0" else duration(text)


def natural(text: str) -> int:
    """Return a whole number that is at least 0."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 0")
    return int(text)


def positive(text: str) -> int:
    """Return a whole number that is at least 1."""
    if not natural(text):
        raise argparse.ArgumentTypeError("must be at least 1")
    return int(text)


def add_corpora_option(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``--corpora``. The default is the folder corpora/ here, else the installed corpus."""
    parser.add_argument(
        "--corpora",
        type=pathlib.Path,
        default=default_corpora() or CORPORA,
        metavar="DIR",
        help=f"{what} (default: corpora/ here, else the installed corpus)",
    )


def workers(text: str) -> int:
    """Return a number of processes; ``auto``: one for each core."""
    return processors() if text == "auto" else positive(text)


def workers_or_auto(text: str) -> int | None:
    """Return a number of processes; None for ``auto``, which depends on where they run."""
    return None if text == "auto" else positive(text)


def add_workers_option(parser: argparse.ArgumentParser, what: str = "number of processes") -> None:
    """Add ``--workers``."""
    parser.add_argument(
        "--workers",
        type=workers,
        default="auto",
        metavar="N",
        help=f"{what}; auto: one for each core (default: auto)",
    )


def add_time_limit_option(parser: argparse.ArgumentParser, what: str, minutes: int) -> None:
    """Add ``--limit``, the time limit for ``what``."""
    parser.add_argument(
        "--limit",
        type=duration,
        default=60.0 * minutes,
        metavar="TIME",
        help=f"time limit for {what}, e.g. 90s (default: {minutes}m)",
    )


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def print_json(document: object) -> None:
    """Print a document as ``--json`` does."""
    print(json.dumps(document, indent=1, ensure_ascii=False))


def mebibytes(text: str) -> int:
    """Return the MiB that ``512M`` or ``4G`` stands for."""
    match = re.fullmatch(r"(\d+)([MG])", text)
    size = int(match[1]) * (1024 if match[2] == "G" else 1) if match else 0
    if size < LEAST_MEMORY:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a size of at least {LEAST_MEMORY}M; write 800M or 4G"
        )
    return size


def shard(text: str) -> tuple[int, int]:
    """Return the numbers of ``2/5``: the second of five parts."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not a shard; write I/N with I from 1 to N")
    return int(match[1]), int(match[2])


def add_limit_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--memory`` and ``--network``, the limits of a user's model; ``main`` sets them."""
    parser.add_argument(
        "--memory",
        type=mebibytes,
        default=most_of_the_machine(),
        metavar="SIZE",
        help="end the process of the model if it takes more memory than SIZE, e.g. 800M or 4G (default: "
        "three quarters of this machine's memory)",
    )
    parser.add_argument(
        "--network", action="store_true", help="let the model use the network, for example to load weights"
    )


def limits_given(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the limits that the options of a command set for child processes."""
    return {name: value for name, value in vars(arguments).items() if name in ("memory", "network")}


def add_path_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--paths`` and ``--device``."""
    parser.add_argument(
        "--paths",
        nargs="+",
        action="extend",
        default=[],
        metavar="GLOB",
        help="use only the paths that match GLOB, e.g. 'nonstrict:*'; 'exportdiff paths' lists them; a path "
        "that is not listed must be written in full, e.g. strict+reload:module (default: all listed paths; "
        "'fuzz' and 'faults' leave out paths that take seconds)",
    )
    add_device_option(parser)


def add_ci_file_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--summary`` and ``--junit``, the files of a campaign for CI systems."""
    parser.add_argument(
        "--summary",
        type=pathlib.Path,
        metavar="FILE",
        help="also write the result as Markdown, for the summary page of a CI job",
    )
    parser.add_argument(
        "--junit", type=pathlib.Path, metavar="FILE", help="also write the result as JUnit XML"
    )


def add_device_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--device``."""
    parser.add_argument(
        "--device",
        choices=("cpu", "cuda", "second", "auto"),
        default="auto",
        help="where models run; auto: on the CPU, and on CUDA if torch finds a device; second: on a "
        "simulated device in the CPU's memory, which needs g++ and ninja (default: auto)",
    )


def chosen_paths(
    globs: Sequence[str], device: str, *, expensive: bool = True, saved: str = ""
) -> tuple[Path, ...]:
    """Return the paths that ``--paths`` and ``--device`` select. Raises UsageError.

    Without ``--paths``: all listed paths; if not ``expensive``, without those that take seconds. ``saved``:
    the pattern of the paths that run the saved program.
    """
    from exportdiff.runtime.paths import EXPENSIVE, cost

    try:
        paths = chosen(tuple(globs) or "all", None if device == "auto" else device, saved=saved)
    except UsageError as error:
        raise UsageError(f"--{error}") from None
    return tuple(path for path in paths if expensive or globs or cost(path) < EXPENSIVE)


def left_out(globs: Sequence[str], *, expensive: bool, switches: bool) -> dict[str, list[str]]:
    """Return the names that this torch lacks, each with the paths and switches that need it.

    Only paths that ``chosen_paths`` would have returned are listed; switches of the generator are listed if
    ``switches`` is set.
    """
    from exportdiff.runtime import paths

    lacking: dict[str, list[str]] = {}
    for written, names in paths.left_out(globs).items():
        if expensive or globs or paths.cost(paths.parse(written)) < paths.EXPENSIVE:
            for name in names:
                lacking.setdefault(name, []).append(written)
    for switch, name in switches_needing().items() if switches else ():
        lacking.setdefault(name, []).append(switch)
    return lacking


def add_seed_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--seed``."""
    parser.add_argument(
        "--seed",
        type=natural,
        default=0,
        metavar="S",
        help="the same seed gives the same programs (default: 0)",
    )


def add_profile_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--profile``."""
    parser.add_argument(
        "--profile",
        default=DEFAULT_PROFILE,
        metavar="NAME",
        help="which kind of programs to draw more often; a wrong name prints all names (default: default)",
    )


def add_around_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--around``."""
    parser.add_argument(
        "--around",
        default="",
        metavar="MODEL",
        help="do not draw programs; instead, put an existing model into situations that often break export. "
        "MODEL is FILE.py:NAME or package.module:NAME of a callable that returns (model, args), or a model "
        "of the zoo, e.g. module_db/nn.Linear or transformers/llama",
    )


def add_near_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--near``."""
    parser.add_argument(
        "--near",
        nargs="*",
        type=pathlib.Path,
        metavar="FILE",
        help="do not draw programs; instead, edit programs that show bugs, to find new bugs near them; FILE "
        "is a corpus file or a repro file (default: all files of the corpus, the worst bugs most often)",
    )


def chosen_profile(name: str) -> str:
    """Return the name if a profile has it. Raises UsageError."""
    names = profile_names()
    if name not in names:
        raise UsageError(f"--profile {name}: there is no such profile; there are {', '.join(names)}")
    return name

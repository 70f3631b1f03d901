"""Argument types and options that several commands share."""

from __future__ import annotations

import argparse
import pathlib
import re
from typing import TYPE_CHECKING

from exportdiff.core.durations import seconds_of
from exportdiff.core.errors import UsageError
from exportdiff.core.programs import DEFAULT_PROFILE, profile_names, switches_needing
from exportdiff.known.corpus.entry import CORPORA, default_corpora
from exportdiff.runtime import second_device
from exportdiff.runtime.processes.limits import most_of_the_machine
from exportdiff.runtime.processes.processors import processors

# Functions import the modules that import torch, so that ``exportdiff --help`` starts fast.
if TYPE_CHECKING:
    from collections.abc import Sequence

    from exportdiff.core.path import Path

LEAST_MEMORY = 512
"""MiB: a process with torch imported takes half of it."""


def duration(text: str) -> float:
    """Read ``90s``, ``10m``, ``1h``, or a bare number of seconds."""
    try:
        seconds = seconds_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not seconds:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write 90s, 10m or 1h")
    return seconds


def duration_or_none(text: str) -> float:
    """Read a duration as ``duration`` does, or 0."""
    return 0.0 if text == "0" else duration(text)


def natural(text: str) -> int:
    """Read a whole number from 0 up."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 up")
    return int(text)


def positive(text: str) -> int:
    """Read a whole number from 1 up."""
    if not natural(text):
        raise argparse.ArgumentTypeError("must be at least 1")
    return int(text)


def add_corpora_option(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``--corpora``; its default is the corpus here, or else the one that was installed."""
    parser.add_argument(
        "--corpora",
        type=pathlib.Path,
        default=default_corpora() or CORPORA,
        metavar="DIR",
        help=f"{what} (default: corpora/ here, or the one that was installed)",
    )


def workers(text: str) -> int:
    """Read a number of processes; ``auto`` is one for each core."""
    return processors() if text == "auto" else positive(text)


def workers_or_auto(text: str) -> int | None:
    """Read a number of processes; None for ``auto``, which depends on where they run."""
    return None if text == "auto" else positive(text)


def mebibytes(text: str) -> int:
    """Read ``512M``, ``4G``; return it in MiB."""
    match = re.fullmatch(r"(\d+)([MG])", text)
    size = int(match[1]) * (1024 if match[2] == "G" else 1) if match else 0
    if size < LEAST_MEMORY:
        raise argparse.ArgumentTypeError(f"{text!r} is no size from {LEAST_MEMORY}M up; write 800M or 4G")
    return size


def shard(text: str) -> tuple[int, int]:
    """Read ``2/5``: the second of five parts."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not a shard; write I/N with I from 1 to N")
    return int(match[1]), int(match[2])


def add_limit_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--memory`` and ``--network``, for models of users; ``main`` sets the limits."""
    parser.add_argument(
        "--memory",
        type=mebibytes,
        default=most_of_the_machine(),
        metavar="SIZE",
        help="end the process of the model when it takes more memory, e.g. 800M or 4G (default: three "
        "quarters of this machine)",
    )
    parser.add_argument(
        "--network", action="store_true", help="let the model use the network, for example to load weights"
    )


def add_path_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--paths`` and ``--device``."""
    parser.add_argument(
        "--paths",
        nargs="+",
        action="extend",
        default=[],
        metavar="GLOB",
        help="use only the paths that match a GLOB, e.g. 'nonstrict:*'; a path that is not listed must be "
        "written out, e.g. strict+reload:module (default: all listed paths, but 'fuzz' and 'faults' leave "
        "out paths that take seconds)",
    )
    add_device_option(parser)


def add_file_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--summary`` and ``--junit``: what a campaign tells CI systems."""
    parser.add_argument(
        "--summary",
        type=pathlib.Path,
        metavar="FILE",
        help="write the result as Markdown as well, for the summary page of a CI job",
    )
    parser.add_argument(
        "--junit", type=pathlib.Path, metavar="FILE", help="write the result as JUnit XML as well"
    )


def add_device_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--device``."""
    parser.add_argument(
        "--device",
        choices=("cpu", "cuda", "second", "auto"),
        default="auto",
        help="where models run; auto: on the CPU, and on CUDA as well if there is a device; second: a device "
        "in the memory of the CPU, which torch builds where g++ and ninja are there (default: auto)",
    )


def chosen_paths(globs: Sequence[str], device: str, *, expensive: bool = True) -> tuple[Path, ...]:
    """Turn ``--paths`` and ``--device`` into paths. Raises UsageError.

    ``expensive``: whether no ``--paths`` means all paths; else paths that take seconds are left out.
    """
    from exportdiff.runtime.paths import EXPENSIVE, cost, select_paths

    try:
        paths = select_paths(globs, available(device))
        return tuple(path for path in paths if expensive or globs or cost(path) < EXPENSIVE)
    except ValueError as error:
        raise UsageError(f"--paths {error}") from None


def left_out(globs: Sequence[str], *, expensive: bool, switches: bool) -> dict[str, list[str]]:
    """Return the names that this torch lacks, and what is left out for each.

    Of the paths those that ``chosen_paths`` would have chosen; the switches of drawing only if ``switches``.
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


def available(device: str) -> tuple[str, ...]:
    """Turn ``--device`` into the names of devices. Raises UsageError if this machine has no such device."""
    from exportdiff.runtime.paths import available_devices

    if device == second_device.NAME:
        second_device.load()
        return (device,)
    found = available_devices()
    if device not in (*found, "auto"):
        raise UsageError(f"--device {device}: torch finds no such device; use --device cpu")
    return found if device == "auto" else (device,)


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
        help="what kind of programs to draw; a wrong name prints the list of names (default: default)",
    )


def add_around_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--around``."""
    parser.add_argument(
        "--around",
        default="",
        metavar="MODEL",
        help="instead of drawing programs, put a model that exists into situations that break things: "
        "FILE.py:NAME or package.module:NAME of a callable that returns (model, args), or a model of the zoo "
        "such as module_db/nn.Linear or transformers/llama",
    )


def chosen_profile(name: str) -> str:
    """Return the name of a profile if it exists. Raises UsageError."""
    names = profile_names()
    if name not in names:
        raise UsageError(f"--profile {name}: there is no such profile; there are {', '.join(names)}")
    return name

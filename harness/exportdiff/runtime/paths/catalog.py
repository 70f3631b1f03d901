"""The catalog of paths: which there are, and what is known about each before it runs."""

from __future__ import annotations

import pathlib
import re
import sys
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from exportdiff.core.lazy import torch
from exportdiff.core.path import Path
from exportdiff.core.torch_versions import has, torch_version
from exportdiff.runtime.paths import backends
from exportdiff.runtime.paths.backends import mode_of, runner_of
from exportdiff.runtime.paths.modes import MODES
from exportdiff.runtime.paths.parsing import is_pattern, parse
from exportdiff.runtime.paths.runners import RUNNERS
from exportdiff.runtime.paths.transforms import TRANSFORMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from exportdiff.core.saved_program import SavedProgram
    from exportdiff.runtime.paths.transforms.table import Aspect, Transform

CORE = ("nonstrict:module", "nonstrict:unflatten", "strict:module", "strict:unflatten", "compile:compiled")
"""The paths that transforms start from; the others are listed after them."""

EXPENSIVE = 1000.0
"""Milliseconds from which on a campaign takes a path only on request."""

_GPU_FILES = ("nvidia*", "dxg", "kfd", "nvmap")
"""Files in /dev of GPU drivers: of NVIDIA, in WSL, of AMD, on Jetson boards."""


def core_paths(devices: Sequence[str] = ("cpu",)) -> tuple[Path, ...]:
    """Return the paths without transforms that cost little and that this torch has, on the given devices."""
    return tuple(
        parse(f"{written}@{device}") for device in devices for written in _available() if written in CORE
    )


def all_paths(devices: Sequence[str] = ("cpu",)) -> tuple[Path, ...]:
    """Return every listed path that this torch has, on the given devices, in the canonical order.

    Core paths come first.
    """
    return tuple(parse(f"{written}@{device}") for device in devices for written in _available())


def left_out(globs: Iterable[str] = ()) -> dict[str, tuple[str, ...]]:
    """Return the paths that this torch lacks, of those that a pattern matches, and what each would need.

    The names of paths are without devices; without patterns all of them are meant.
    """
    patterns = list(globs)
    lacking = {written: lacks(parse(written)) for written in _listed()}
    return {
        written: names
        for written, names in lacking.items()
        if names and (not patterns or any(parse(written).matches(glob) for glob in patterns))
    }


@cache
def lacks(path: Path) -> tuple[str, ...]:
    """Return the names that the path needs and this torch lacks; empty: the path can run."""
    needed = [mode_of(path.mode).needs, runner_of(path).needs]
    needed += [TRANSFORMS[name].needs for name in path.transforms]
    return tuple(dict.fromkeys(name for names in needed for name in names if not has(name)))


@cache
def _available() -> tuple[str, ...]:
    return tuple(written for written in _listed() if not lacks(parse(written)))


@cache
def _listed() -> tuple[str, ...]:
    listed = [(mode, runner) for runner in RUNNERS.values() for mode in runner.modes]
    plain = [f"{mode}:{runner.name}" for mode, runner in listed if not MODES[mode].loads]
    transformed: list[str] = []
    for name, transform in TRANSFORMS.items():
        for path in transform.on:
            mode, _, runner = path.partition(":")
            transformed.append(f"{mode}+{name}:{runner}")
    return tuple(dict.fromkeys((*CORE, *transformed, *plain)))


def available_devices() -> tuple[str, ...]:
    """Return the devices of this machine that paths can run on.

    torch is asked only where the machine may have a GPU: importing it takes seconds.
    """
    files = (file for name in _GPU_FILES for file in pathlib.Path("/dev").glob(name))
    may_have = "torch" in sys.modules or any(files)
    return ("cpu", "cuda") if may_have and torch.cuda.is_available() else ("cpu",)


def select_paths(globs: Iterable[str], devices: Sequence[str] = ("cpu",)) -> tuple[Path, ...]:
    """Return the paths that any of the patterns matches; all listed ones without patterns.

    A pattern without wildcards may name any path that ``parse`` accepts; such paths come after the listed
    ones. A pattern that begins with the name of a backend, or of a mode that loads programs, matches the
    paths of that mode, which are not listed. Raises ValueError for a pattern that names no path, and for a
    path that this torch or this environment lacks.
    """
    everything = all_paths(devices)
    chosen: dict[Path, None] = {}
    patterns = list(globs)
    for glob in patterns:
        listed = everything if (name := _unlisted_mode(glob)) is None else _of_mode(name, glob, devices)
        chosen |= dict.fromkeys(_matching(glob, listed) or _named(glob, devices))
    if not patterns:
        return everything
    further = tuple(path for path in chosen if path not in everything)
    return (*(path for path in everything if path in chosen), *further)


def _unlisted_mode(glob: str) -> str | None:
    """Return the name of the mode with which a pattern begins, if its paths are not listed."""
    name = re.split("[+:@]", glob, maxsplit=1)[0]
    unlisted = MODES[name].loads if name in MODES else backends.is_mode(name)
    return name if unlisted else None


def _of_mode(name: str, glob: str, devices: Sequence[str]) -> tuple[Path, ...]:
    """Return the paths of a mode without transforms. Raises ValueError if a backend is not installed."""
    if lacking_here := backends.lacking(name):
        found = backends.backend(name)
        install = "" if found is None else found.install
        raise ValueError(f"{glob!r} needs {', '.join(lacking_here)}, not installed here: {install}")
    runners = (parse(f"{name}:{each}") for each in backends.runners_of(name))
    without_file = [path for path in runners if runner_of(path).starts_from != "file"]
    return tuple(parse(f"{path.without_device}@{device}") for device in devices for path in without_file)


def _matching(glob: str, listed: Sequence[Path]) -> tuple[Path, ...]:
    return tuple(path for path in listed if path.matches(glob))


def _named(glob: str, devices: Sequence[str]) -> tuple[Path, ...]:
    """Return what a pattern names that matches no listed path. Raises ValueError if it names none."""
    if lacking := left_out([glob]):
        raise ValueError(_lacking(glob, {name for names in lacking.values() for name in names}))
    if is_pattern(glob):
        raise ValueError(
            f"{glob!r} matches no listed path; 'exportdiff paths' lists them; "
            "write a path that is not listed without wildcards, e.g. strict+reload:module"
        )
    path = parse(glob)
    if lacking_here := lacks(path):
        raise ValueError(_lacking(glob, set(lacking_here)))
    if "@" not in glob:
        return tuple(replace(path, device=device) for device in devices)
    if path.device not in devices:
        raise ValueError(f"{glob!r}: paths run on {', '.join(devices)} here")
    return (path,)


def _lacking(glob: str, names: Iterable[str]) -> str:
    return f"{glob!r} needs {', '.join(sorted(names))}, which torch {torch_version()} lacks"


def export_key(path: Path) -> tuple[str, ...]:
    """Return a key: paths with the same one share one export."""
    return path.device, path.mode, *(name for name in path.transforms if _has_own_export(TRANSFORMS[name]))


def _has_own_export(transform: Transform) -> bool:
    """Whether a transform needs an export that paths without it do not share."""
    return transform.at in ("case", "setting", "export") or transform.copies or transform.in_place


def eager_key(path: Path) -> tuple[str, ...]:
    """Return a key: paths with the same one are compared with the same run of eager."""
    chosen = (name for name in path.transforms if _changes_eager(TRANSFORMS[name]))
    return path.device, *chosen


def _changes_eager(transform: Transform) -> bool:
    return transform.at == "case" or transform.in_eager


def not_promised(path: Path) -> frozenset[Aspect]:
    """Return what is not compared on the path."""
    of_transforms = (TRANSFORMS[name].not_promised for name in path.transforms)
    return frozenset(runner_of(path).not_promised).union(*of_transforms)


def same_operators(path: Path, saved: SavedProgram | None = None) -> bool:
    """Whether transforms and runner keep the operators that eager runs. ``saved``: that of the case."""
    kept = all(TRANSFORMS[name].same_operators for name in path.transforms)
    return kept and runner_of(path).same_operators and not _is_inference_ir(path, saved)


def for_inference(path: Path, saved: SavedProgram | None = None) -> bool:
    """Whether the path runs a program that is for inference alone. ``saved``: that of the case."""
    return _is_inference_ir(path, saved) or any(TRANSFORMS[name].for_inference for name in path.transforms)


def _is_inference_ir(path: Path, saved: SavedProgram | None) -> bool:
    return saved is not None and saved.for_inference and loads(path)


def loads(path: Path) -> bool:
    """Whether the path runs the program that was saved with the case."""
    return mode_of(path.mode).loads or runner_of(path).starts_from == "file"


def frees(path: Path) -> bool:
    """Whether the path looks for weights that stay in memory when all else is gone."""
    return any(TRANSFORMS[name].frees for name in path.transforms)


def narrows(path: Path) -> bool:
    """Whether a transform lets the program refuse sizes that the spec of dynamic shapes allows."""
    return any(TRANSFORMS[name].narrows for name in path.transforms)


def chooses_sizes(path: Path) -> bool:
    """Whether a transform makes the spec of dynamic shapes, which leaves all sizes to export."""
    return any(TRANSFORMS[name].sizes for name in path.transforms)


def exports_again(path: Path) -> bool:
    """Whether a transform exports the exported program again."""
    return any(TRANSFORMS[name].exports for name in path.transforms)


def cost(path: Path) -> float:
    """Return about how many milliseconds the path takes, for a model of the usual size, without eager."""
    own = runner_of(path).cost
    base = mode_of(path.mode).cost if own is None else own
    return base + sum(TRANSFORMS[name].cost for name in path.transforms)


def promise(path: Path) -> str:
    """Return what the last transform promises, or else the runner, in a line."""
    if path.transforms:
        return TRANSFORMS[path.transforms[-1]].promise
    return runner_of(path).promise


def is_listed(path: Path) -> bool:
    """Whether the path is listed; any other runs only if ``--paths`` names it."""
    return path.without_device in _listed()


def list_index(path: Path) -> int:
    """Return the index in the list of all paths; that of an unlisted path is the length of the list."""
    written = path.without_device
    return _listed().index(written) if written in _listed() else len(_listed())

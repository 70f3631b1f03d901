"""Paths as text: which modes, transforms and runners may be combined."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from exportdiff.core.path import Path
from exportdiff.runtime.paths import backends
from exportdiff.runtime.paths.backends import mode_of, runner_of
from exportdiff.runtime.paths.modes import MODES
from exportdiff.runtime.paths.transforms import ORDER, TRANSFORMS

if TYPE_CHECKING:
    from collections.abc import Iterator

_WRITTEN = re.compile(r"(?P<mode>\w+)(?P<transforms>(\+\w+)*):(?P<runner>\w+)(@(?P<device>[\w:]+))?")


def parse(text: str) -> Path:
    """Undo ``str``; without a device it is the CPU. The path need not be listed.

    Raises ValueError with the reason if it is none, or if its parts do not fit together.
    """
    match = _WRITTEN.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{text!r} is not a path; one is written nonstrict:module; 'exportdiff paths' lists all"
        )
    mode, runner = match["mode"], match["runner"]
    transforms = tuple(match["transforms"].split("+")[1:])
    if not backends.is_mode(mode):
        known = ", ".join((*MODES, *backends.names()))
        raise ValueError(f"{text!r}: no mode {mode!r}; there are {known}")
    runners = backends.runners_of(mode)
    if runner not in runners:
        raise ValueError(f"{text!r}: no runner {runner!r} for {mode}; there are {', '.join(runners)}")
    path = Path(mode, runner, transforms, match["device"] or "cpu")
    for problem in _problems(path):
        raise ValueError(f"{text!r}: {problem}")
    return path


def is_pattern(text: str) -> bool:
    """Whether the text has wildcards."""
    return not set("*?[").isdisjoint(text)


def _problems(path: Path) -> Iterator[str]:
    """Say which transforms do not exist, or do not fit the mode, the runner or each other."""
    for name in path.transforms:
        if name not in TRANSFORMS:
            yield f"no transform {name!r}; there are {', '.join(TRANSFORMS)}"
    kinds = [ORDER.index(TRANSFORMS[name].at) for name in path.transforms]
    if kinds != sorted(kinds):
        yield f"transforms come in the order of what they transform: {', '.join(ORDER)}"
    if len(set(path.transforms)) < len(path.transforms):
        yield "a transform is named twice"
    if len(export := [name for name in path.transforms if TRANSFORMS[name].at == "export"]) > 1:
        yield f"{export[-1]!r} would undo {export[0]!r}"
    for name in path.transforms:
        yield from _problems_of(name, path)


def _problems_of(name: str, path: Path) -> Iterator[str]:
    transform, runner = TRANSFORMS[name], runner_of(path)
    if mode_of(path.mode).export is None and transform.at != "case":
        yield f"{name!r} transforms what is exported, and {path.mode} exports nothing"
    if mode_of(path.mode).loads and (transform.at not in ("program", "module") or transform.in_eager):
        yield f"{name!r} changes what is exported, and {path.mode} loads what was exported before"
    if runner.starts_from == "file":
        yield f"{name!r} transforms programs of torch, and {runner.name} runs a file of {path.mode}"
    if runner.starts_from == "model" and transform.at != "case":
        yield f"{name!r} transforms what is exported, and {path.mode} exports by itself"
    if transform.at == "module" and "state" in runner.not_promised:
        yield f"{name!r} transforms a module with state, and {runner.name} returns none"
    if transform.runner and transform.runner != runner.name:
        yield f"{name!r} transforms what {transform.runner} returns"
    if transform.after and transform.after not in path.transforms:
        yield f"{name!r} needs {transform.after!r} before it"
    again = [each for each in path.transforms if TRANSFORMS[each].exports]
    if transform.after and again:
        yield f"{again[0]!r} keeps nothing of what {transform.after!r} does for {name!r}"

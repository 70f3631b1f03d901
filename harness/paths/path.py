"""Path: one way to run a case, by name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING

import torch

from harness.paths.modes import MODES
from harness.paths.run.compiled import COMPILERS
from harness.paths.run.pipelined import PIPELINES
from harness.paths.runners import DROPS, RUNNERS, SAME_OPERATORS
from harness.paths.transforms import ORDER, TRANSFORMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from harness.paths.transforms.table import Aspect, Transform

_PYTORCH = {name: RUNNERS[name] for name in SAME_OPERATORS}

TREE: dict[str, Mapping[str, Callable[..., object]]] = {
    "nonstrict": _PYTORCH,
    "strict": _PYTORCH,
    "compile": COMPILERS,
    "pipeline": PIPELINES,
    "aoti": {"package": RUNNERS["package"]},
}
"""Which runners there are for which mode, in the canonical order."""

CORE = ("nonstrict:module", "nonstrict:unflatten", "strict:module", "strict:unflatten", "compile:compiled")
"""The paths without which there is nothing to transform; the others are listed after them."""

COSTS = {
    "nonstrict": 25,
    "strict": 100,
    "compile": 220,
    "pipeline": 60,
    "aot_eager": 350,
    "inductor": 5000,
    "aoti": 7000,
}
"""Milliseconds of a mode, or of a runner whatever its mode: measured, and good enough to plan by."""

EXPENSIVE = 1000.0
"""Milliseconds from which on a path is taken by campaigns that ask for it only."""

_WRITTEN = re.compile(r"(?P<mode>\w+)(?P<transforms>(\+\w+)*):(?P<runner>\w+)(@(?P<device>[\w:]+))?")


@dataclass(frozen=True)
class Path:
    """A mode, transforms, a runner and a device; written ``nonstrict:module@cpu``."""

    mode: str
    runner: str
    transforms: tuple[str, ...] = ()
    device: str = "cpu"

    def __str__(self) -> str:
        """Write the path as people do."""
        return f"{'+'.join((self.mode, *self.transforms))}:{self.runner}@{self.device}"

    @property
    def stem(self) -> tuple[str, ...]:
        """What paths have to agree in to share one export."""
        return self.device, self.mode, *(name for name in self.transforms if _exports(TRANSFORMS[name]))

    @property
    def variation(self) -> tuple[str, ...]:
        """What paths have to agree in to be compared with one run of eager."""
        return self.device, *(n for n in self.transforms if _at(n) == "case" or TRANSFORMS[n].in_eager)

    @property
    def drops(self) -> frozenset[Aspect]:
        """What transforms and runner do not promise to keep."""
        kept = (TRANSFORMS[name].drops for name in self.transforms)
        return DROPS.get(self.runner, frozenset()).union(*kept)

    @property
    def same_operators(self) -> bool:
        """Whether transforms and runner keep the operators that eager runs."""
        kept = all(TRANSFORMS[name].same_operators for name in self.transforms)
        return kept and self.runner in (*SAME_OPERATORS, *PIPELINES, "compiled")

    @property
    def exports_again(self) -> bool:
        """Whether what was exported is exported once more."""
        return any(TRANSFORMS[name].exports for name in self.transforms)

    @property
    def cost(self) -> float:
        """About how many milliseconds the path takes, for a model of the usual size, once eager has run."""
        return COSTS.get(self.runner, COSTS[self.mode]) + sum(TRANSFORMS[n].cost for n in self.transforms)

    @property
    def promise(self) -> str:
        """What the last thing on the path promises, in a line."""
        if self.transforms:
            return TRANSFORMS[self.transforms[-1]].promise
        return ((TREE[self.mode][self.runner].__doc__) or "").partition("\n")[0]

    @property
    def is_core(self) -> bool:
        """Whether it is one of the core paths."""
        return str(self).partition("@")[0] in CORE

    @property
    def place(self) -> int:
        """Where the path is in the list of all paths; a path that is not listed comes after them."""
        written = str(self).partition("@")[0]
        return _listed().index(written) if written in _listed() else len(_listed())

    @classmethod
    def parse(cls, text: str) -> Path:
        """Undo ``str``; without a device it is the CPU. Raises ValueError with the reason."""
        match = _WRITTEN.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not a path; one is written nonstrict:module@cpu")
        mode, runner = match["mode"], match["runner"]
        transforms = tuple(match["transforms"].split("+")[1:])
        if mode not in TREE:
            raise ValueError(f"{text!r}: no mode {mode!r}; there are {', '.join(TREE)}")
        if runner not in TREE[mode]:
            raise ValueError(f"{text!r}: no runner {runner!r} for {mode}; there are {', '.join(TREE[mode])}")
        _check_transforms(text, mode, transforms)
        return cls(mode, runner, transforms, match["device"] or "cpu")

    def matches(self, glob: str) -> bool:
        """Whether a shell pattern names this path; a pattern without ``@`` leaves the device open."""
        written = str(self)
        return fnmatchcase(written, glob) or fnmatchcase(written.rpartition("@")[0], glob)


def _exports(transform: Transform) -> bool:
    """Whether there is an export for what it does, and not for what others do."""
    return transform.at in ("case", "export") or transform.apart or transform.in_place


def _at(name: str) -> str:
    return TRANSFORMS[name].at


def _check_transforms(text: str, mode: str, transforms: tuple[str, ...]) -> None:
    for name in transforms:
        if name not in TRANSFORMS:
            raise ValueError(f"{text!r}: no transform {name!r}; there are {', '.join(TRANSFORMS)}")
        if mode not in MODES and TRANSFORMS[name].at != "case":
            raise ValueError(f"{text!r}: {name!r} transforms what is exported, and {mode} exports nothing")
    kinds = [ORDER.index(TRANSFORMS[name].at) for name in transforms]
    if kinds != sorted(kinds):
        raise ValueError(f"{text!r}: transforms come in the order of what they transform: {', '.join(ORDER)}")


def core_paths(devices: Sequence[str] = ("cpu",)) -> tuple[Path, ...]:
    """Return the paths without transforms that cost little, on the given devices."""
    return tuple(Path.parse(f"{written}@{device}") for device in devices for written in CORE)


def all_paths(devices: Sequence[str] = ("cpu",)) -> tuple[Path, ...]:
    """Return every listed path on the given devices, in the canonical order: core paths come first."""
    return tuple(Path.parse(f"{written}@{device}") for device in devices for written in _listed())


@cache
def _listed() -> tuple[str, ...]:
    further = ["pipeline:stages", *(f"compile:{name}" for name in COMPILERS), "aoti:package"]
    transformed: list[str] = []
    for name, transform in TRANSFORMS.items():
        for path in transform.on:
            mode, _, runner = path.partition(":")
            transformed.append(f"{mode}+{name}:{runner}")
    return tuple(dict.fromkeys((*CORE, *transformed, *further)))


def available_devices() -> tuple[str, ...]:
    """Return the devices of this machine that paths can run on."""
    return ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)


def select_paths(globs: Iterable[str], devices: Sequence[str] = ("cpu",)) -> tuple[Path, ...]:
    """Return the paths that any of the patterns names; all of them without patterns.

    Raises ValueError for a pattern that names none.
    """
    everything = all_paths(devices)
    chosen: set[Path] = set()
    patterns = list(globs)
    for glob in patterns:
        named = {path for path in everything if path.matches(glob)}
        if not named:
            raise ValueError(f"{glob!r} names no path; there are {', '.join(map(str, everything))}")
        chosen |= named
    return tuple(path for path in everything if not patterns or path in chosen)

"""Path: one way to run a case, by name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import torch

from harness.paths.compiled import COMPILERS
from harness.paths.modes import MODES
from harness.paths.runners import RUNNERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

TREE: dict[str, Mapping[str, object]] = {**dict.fromkeys(MODES, RUNNERS), "compile": COMPILERS}
"""Which runners there are for which mode, in the canonical order."""

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
        if transforms:
            raise ValueError(f"{text!r}: no transform {transforms[0]!r}; there are none yet")
        return cls(mode, runner, transforms, match["device"] or "cpu")

    def matches(self, glob: str) -> bool:
        """Whether a shell pattern names this path; a pattern without ``@`` leaves the device open."""
        written = str(self)
        return fnmatchcase(written, glob) or fnmatchcase(written.rpartition("@")[0], glob)


def all_paths(devices: Sequence[str] = ("cpu",)) -> tuple[Path, ...]:
    """Return every path on the given devices, in the canonical order."""
    return tuple(
        Path(mode, runner, device=device) for device in devices for mode in TREE for runner in TREE[mode]
    )


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

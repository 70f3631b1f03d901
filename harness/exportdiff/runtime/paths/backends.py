"""Backends: the modes and runners that other packages add to the tables of this package.

A package names an object in the entry points of the group ``exportdiff.backends``. The name of the entry
point is the mode of its paths. Nothing of a backend is imported before a path names it.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

from exportdiff.runtime.paths.modes import MODES
from exportdiff.runtime.paths.runners import RUNNERS

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from exportdiff.core.path import Path
    from exportdiff.runtime.paths.modes import Mode
    from exportdiff.runtime.paths.runners import Runner

GROUP = "exportdiff.backends"


class PluggedIn(Protocol):
    """What paths need of a backend; ``exportdiff.Backend`` has it."""

    @property
    def mode(self) -> Mode:
        """The mode, which has the name of the backend."""

    @property
    def runners(self) -> MutableMapping[str, Runner]:
        """The runners by name; they follow the mode of the backend alone."""

    @property
    def requires(self) -> tuple[str, ...]:
        """The modules that it imports."""

    @property
    def packages(self) -> tuple[str, ...]:
        """The distributions that a repro file needs besides torch."""

    @property
    def install(self) -> str:
        """The command that installs them."""


@cache
def names() -> tuple[str, ...]:
    """Return the names of the backends that installed packages declare, sorted."""
    return tuple(sorted({each.name for each in entry_points(group=GROUP)} - MODES.keys()))


def is_mode(name: str) -> bool:
    """Whether paths can begin with this name."""
    return name in MODES or name in names()


@cache
def backend(name: str) -> PluggedIn | None:
    """Return the backend of this name; None if there is none. Raises ValueError if it cannot be loaded."""
    for each in entry_points(group=GROUP, name=name) if name and name not in MODES else ():
        try:
            found: PluggedIn = each.load()
        except Exception as error:
            raise ValueError(f"the backend {name!r} ({each.value}) cannot be loaded: {error!r}") from error
        return found
    return None


def lacking(name: str) -> tuple[str, ...]:
    """Return the modules that the backend of this name needs and that are not installed."""
    found = backend(name)
    return () if found is None else tuple(each for each in found.requires if find_spec(each) is None)


def product(mode: str) -> str:
    """Return what runs the programs of a mode: the name of its backend, or ``torch``."""
    return "torch" if backend(mode) is None else mode


def packages(mode: str) -> tuple[str, ...]:
    """Return the distributions that a repro file for this mode needs besides torch."""
    found = backend(mode)
    return () if found is None else found.packages


def mode_of(name: str) -> Mode:
    """Return the mode of this name. Raises KeyError."""
    found = backend(name)
    return MODES[name] if found is None else found.mode


def runner_of(path: Path) -> Runner:
    """Return the runner of a path. Raises KeyError."""
    return runners_after(path.mode)[path.runner]


def runners_after(mode: str) -> MutableMapping[str, Runner]:
    """Return the table of the runners that can follow a mode, and possibly others; it may be changed."""
    found = backend(mode)
    return RUNNERS if found is None else found.runners


def runners_of(mode: str) -> list[str]:
    """Return the names of the runners that can follow a mode."""
    found = backend(mode)
    if found is not None:
        return list(found.runners)
    return [each.name for each in RUNNERS.values() if mode in each.modes]

"""Which paths the arguments of a command, a function or a test select. Imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from exportdiff.core.errors import UsageError
from exportdiff.interfaces.checking.default_paths import default_paths
from exportdiff.runtime import second_device
from exportdiff.runtime.paths import available_devices, select_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exportdiff.core.path import Path

Paths: TypeAlias = Literal["default", "all"] | str | tuple[str, ...] | list[str]
"""Patterns for paths; ``default`` or ``all`` alone is no pattern."""


def chosen(paths: Paths, device: str | None) -> Sequence[Path]:
    """Return the selected paths on one device, or on all devices of this machine if ``device`` is None.

    Raises UsageError; its message begins with the name of the wrong argument.
    """
    devices = _devices(device)
    globs = (paths,) if isinstance(paths, str) else tuple(paths)
    if globs == ("default",):
        return default_paths(devices)
    if not globs:
        raise UsageError("paths is empty; write 'default', 'all', or patterns such as 'nonstrict:*'")
    try:
        return select_paths(() if globs == ("all",) else globs, devices)
    except ValueError as error:
        raise UsageError(f"paths {error}") from None


def _devices(device: str | None) -> tuple[str, ...]:
    if device == second_device.NAME:
        second_device.load()
        return (device,)
    found = available_devices()
    if device is None:
        return found
    if device not in found:
        raise UsageError(f"device {device}: torch finds no such device here; it finds {', '.join(found)}")
    return (device,)

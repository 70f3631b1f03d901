"""Which paths the arguments of a command, a function or a test select. Imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from exportdiff.core.errors import UsageError
from exportdiff.interfaces.checking.default_paths import default_paths
from exportdiff.runtime import second_device
from exportdiff.runtime.paths import available_devices, loads, select_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exportdiff.core.path import Path

Paths: TypeAlias = Literal["default", "all"] | str | tuple[str, ...] | list[str]
"""Patterns for paths; ``default`` or ``all`` alone is no pattern."""


def chosen(paths: Paths, device: str | None, *, saved: str = "") -> Sequence[Path]:
    """Return the selected paths on one device, or on all devices of this machine if ``device`` is None.

    ``saved``: the pattern of the paths that run the saved program, which is then judged by default. Raises
    UsageError; its message begins with the name of the wrong argument.
    """
    # A program is on the device on which it was exported.
    devices = ("cpu",) if saved and device is None else _devices(device)
    globs = (paths,) if isinstance(paths, str) else tuple(paths)
    argument = "paths"
    if globs == ("default",) and saved:
        argument, globs = "program", (saved,)
    if globs == ("default",):
        return default_paths(devices)
    if not globs:
        raise UsageError("paths is empty; write 'default', 'all', or patterns such as 'nonstrict:*'")
    try:
        found = select_paths(() if globs == ("all",) else globs, devices)
    except ValueError as error:
        raise UsageError(f"{argument} {error}") from None
    for name in (each.without_device for each in filter(loads, found)):
        if not saved:
            raise UsageError(f"paths {name!r} runs a saved program: give one with exportdiff check --program")
        if name.partition(":")[0].partition("+")[0] != saved.partition(":")[0]:
            raise UsageError(f"paths {name!r} does not run the file of --program: {saved!r} does")
    return found


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

"""Which paths a caller of Python or pytest asks for. Nothing here imports torch."""

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


def chosen(paths: Paths, device: str | None) -> Sequence[Path]:
    """Return the paths that are meant, on one device or on all of this machine. Raises UsageError."""
    if device == second_device.NAME:
        second_device.load()
    devices = available_devices() if device != second_device.NAME else (device,)
    if device is not None and device not in devices:
        raise UsageError(f"device={device!r}: torch finds no such device; there are {', '.join(devices)}")
    devices = devices if device is None else (device,)
    if paths == "default":
        return default_paths(devices)
    globs = (paths,) if isinstance(paths, str) else tuple(paths)
    if not globs:
        raise UsageError("paths is empty; write 'default', 'all', or patterns such as 'nonstrict:*'")
    try:
        return select_paths(() if paths == "all" else globs, devices)
    except ValueError as error:
        raise UsageError(f"paths: {error}") from None

"""The paths that people deploy, and those that a model is judged on unless somebody asks for others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.runtime.paths import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exportdiff.core.path import Path

DEPLOYED = (
    "nonstrict:module",
    "nonstrict:unflatten",
    "nonstrict+decompose:module",
    "nonstrict+decompose:unflatten",
    "nonstrict+reload:module",
    "nonstrict+reload:unflatten",
    "strict:module",
    "strict:unflatten",
)
"""Export, run as it is or as a hierarchy; lowered to core ATen; saved and loaded; traced by Dynamo. Each uses
the dynamic shapes that the model declares."""

BY_DEFAULT = (*DEPLOYED, "nonstrict+preserve:unflatten")
"""What a model is judged on unless somebody asks for other paths: also with the call signature of every
submodule preserved, because who swaps or partitions submodules needs it, and many bugs show there alone."""


def deployed_paths(devices: Sequence[str] = ("cpu",)) -> tuple[Path, ...]:
    """Return the paths that people deploy, on the given devices."""
    return _parsed(DEPLOYED, devices)


def default_paths(devices: Sequence[str] = ("cpu",)) -> tuple[Path, ...]:
    """Return the paths that a model is judged on by default, on the given devices."""
    return _parsed(BY_DEFAULT, devices)


def _parsed(paths: Sequence[str], devices: Sequence[str]) -> tuple[Path, ...]:
    return tuple(parse(f"{written}@{device}") for device in devices for written in paths)

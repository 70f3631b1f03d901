"""The paths that people deploy: what a model is judged on unless somebody asks for others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.paths import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.path import Path

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


def deployed_paths(devices: Sequence[str] = ("cpu",)) -> tuple[Path, ...]:
    """Return the paths that people deploy, on the given devices."""
    return tuple(parse(f"{written}@{device}") for device in devices for written in DEPLOYED)

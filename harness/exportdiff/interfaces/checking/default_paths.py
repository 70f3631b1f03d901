"""The paths that people deploy, and the default paths of ``check`` and ``compare``."""

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
"""Export, run as a flat graph or as a hierarchy; decomposed to core ATen; saved and loaded; traced by Dynamo.
All use the dynamic shapes that the model declares."""

BY_DEFAULT = (
    *DEPLOYED,
    "nonstrict+preserve:unflatten",
    "nonstrict+preserve+decompose:unflatten",
    "nonstrict+preserve+swap_one:unflatten",
    "nonstrict+preserve+functional:unflatten",
    "nonstrict+preserve_leaves:unflatten",
    "nonstrict+functionalize:module",
    "nonstrict+duplicate:module",
    "nonstrict+reexport_unflattened:module",
    "nonstrict+todevice:module",
    "nonstrict+freed:module",
    "nonstrict+optimized:module",
    "nonstrict+generated:unflatten",
    "nonstrict+deferred:module",
    "nonstrict+cast:module",
    "nonstrict+cast:unflatten",
    "nonstrict+under_float64:module",
    "nonstrict+under_no_grad:module",
    "nonstrict+under_no_grad+decompose:module",
    "nonstrict+under_inference_mode:module",
    "nonstrict+differentiated:module",
    "nonstrict+trained:module",
    "strict+load_strictly:module",
    "draft:module",
    "pipeline:stages",
)
"""The paths on which a model is judged by default: all listed ones that export, need no compiler, and show a
bug of everyday or occasional code (severity A or B in the corpus). Seven such paths are left out: nearly
every model fails on them. On four, every ``nn.Sequential`` fails, as its argument is called ``input``
(copy_renames_argument_named_input). A program that was unflattened can never be copied
(unflatten_leaves_program_uncopyable), autocast around an export is never recorded
(export_ignores_autocast_around_it), and strict export always keeps the weights in memory
(strict_keeps_weights_in_memory).

How fast the machine is changes nothing: a path that was not reached in time is *not judged*."""


def deployed_paths(devices: Sequence[str] = ("cpu",)) -> tuple[Path, ...]:
    """Return the paths that people deploy, on the given devices."""
    return _parsed(DEPLOYED, devices)


def default_paths(devices: Sequence[str] = ("cpu",)) -> tuple[Path, ...]:
    """Return the default paths on the given devices."""
    return _parsed(BY_DEFAULT, devices)


def _parsed(paths: Sequence[str], devices: Sequence[str]) -> tuple[Path, ...]:
    return tuple(parse(f"{written}@{device}") for device in devices for written in paths)

"""The tasks that judge drawn programs, as they are or changed as text."""

from __future__ import annotations

import re

from exportdiff.fuzzing.campaign.schedule import paths_for
from exportdiff.lab.bench.gpu.found import Ran
from exportdiff.lab.bench.gpu.judged import only_on_device
from exportdiff.lab.bench.gpu.texts import LOW_PRECISION, ON_TWO_DEVICES, UNDER_AUTOCAST, UNSTEADY, drawn
from exportdiff.runtime.paths import EXPENSIVE, all_paths, cost

USUAL = ("nonstrict:module", "nonstrict:unflatten", "strict:module", "nonstrict+preserve:unflatten")
ALSO = (
    "nonstrict+decompose:module",
    "nonstrict+reload:module",
    "compile:aot_eager",
    "nonstrict+functionalize:module",
)
"""A changed program runs on USUAL, and on one of these."""


def on_cheap_paths(device: str, seed: int, index: int) -> Ran:
    """Judge a drawn program on the cheap paths that a campaign would choose."""
    source, tags = drawn(seed, index)
    cheap = tuple(path for path in all_paths([device]) if cost(path) < EXPENSIVE)
    paths = [str(path) for path in paths_for(index, cheap, tags)]
    return only_on_device(f"paths-{index}", lambda _: source, paths, device)


def on_two_devices(device: str, seed: int, index: int) -> Ran:
    """Judge a drawn program as a submodule on the device; its parent and all inputs are on the CPU."""
    source, _ = drawn(seed, index)
    return only_on_device(
        f"two-{index}", lambda here: source + ON_TWO_DEVICES.replace("DEVICE", here), _paths(index), device
    )


def in_low_precision(device: str, seed: int, index: int) -> Ran:
    """Judge a drawn program in float16 or bfloat16."""
    source, _ = drawn(seed, index)
    name = ("float16", "bfloat16")[index % 2]
    text = source + LOW_PRECISION.replace("DTYPE", name)
    return only_on_device(f"{name}-{index}", lambda _: text, _paths(index, device), device)


def in_autocast_region(device: str, seed: int, index: int) -> Ran:
    """Judge a drawn program in an autocast region of its parent."""
    source, _ = drawn(seed, index)
    return only_on_device(
        f"autocast-{index}",
        lambda here: source + UNDER_AUTOCAST.replace("DEVICE", here),
        _paths(index, device),
        device,
    )


def of_unsteady_kernels(device: str, seed: int, index: int) -> Ran:
    """Judge an operator whose kernel may add in any order: it must be dropped, or agree."""
    source = UNSTEADY[index]
    paths = [f"{path}@{device}" for path in (*USUAL[:3], ALSO[0])]
    return only_on_device(f"unsteady-{index}", lambda _: source, paths, device)


def with_inductor(device: str, seed: int, index: int) -> Ran:
    """Judge a drawn program compiled by Inductor."""
    return _compiled("compile:inductor", device, seed, index)


def with_aoti(device: str, seed: int, index: int) -> Ran:
    """Judge a drawn program compiled by AOTInductor."""
    return _compiled("aoti:package", device, seed, index)


def _compiled(path: str, device: str, seed: int, index: int) -> Ran:
    source, _ = drawn(seed, index)
    name = re.sub(r"\W", "-", path)
    return only_on_device(f"{name}-{index}", lambda _: source, [f"{path}@{device}"], device)


def _paths(index: int, device: str = "cpu") -> list[str]:
    return [f"{path}@{device}" for path in (*USUAL, ALSO[index % len(ALSO)])]

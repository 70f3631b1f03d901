"""The table of questions that only a GPU answers. One entry adds one.

Each question is a task: a function of the device, the seed and a number, which runs in a child process.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.lab.bench.gpu import drawn, memory, moved, precision, texts
from exportdiff.runtime.paths import all_paths, parse

if TYPE_CHECKING:
    from exportdiff.lab.bench.gpu.found import Ran

Task = Callable[[str, int, int], "Ran"]


def _always(device: str) -> str:
    return ""


def _inductor(device: str) -> str:
    """Return why Inductor cannot compile for the device, or for the CPU, with which it is compared."""
    if device != "cuda":
        return f"Inductor compiles nothing for device {device}"
    if importlib.util.find_spec("triton") is None:
        return "Inductor needs the package triton"
    return "" if shutil.which("g++") else "Inductor needs g++, for its code for the CPU"


def _autocast(device: str) -> str:
    return "" if device == "cuda" else f"device {device} has no kernels for autocast"


def _moves(device: str) -> str:
    listed = parse(f"nonstrict+todevice:module@{device}") in all_paths([device])
    return "" if listed else "this torch has no torch.export.passes.move_to_device_pass"


@dataclass(frozen=True)
class Section:
    """One question."""

    name: str
    question: str
    task: Task
    weight: int
    """Its share of the time, compared with the others."""
    tasks: int | None = None
    """How many different tasks there are; None: one for each drawn program."""
    lacks: Callable[[str], str] = _always
    """From the device to why the question cannot be asked there; empty: it can."""
    batch: int = 1
    """How many tasks run before the process frees what they left."""


SECTIONS: tuple[Section, ...] = (
    Section("paths", "all cheap paths", drawn.on_cheap_paths, 8, batch=4),
    Section("todevice", "a program moves to the device, and back", moved.between_devices, 3, None, _moves, 4),
    Section("two", "a submodule on the device, the rest on the CPU", drawn.on_two_devices, 3, batch=4),
    Section("both", "inputs on both devices", moved.inputs_on_both, 1, len(texts.BOTH_DEVICES)),
    Section("low", "drawn programs in float16 and bfloat16", drawn.in_low_precision, 3, batch=4),
    Section("bounds", "error bounds of float16, bfloat16, TF32", precision.within_bounds, 1, precision.TASKS),
    Section("region", "autocast in forward", drawn.in_autocast_region, 3, None, _autocast, 4),
    Section("block", "autocast around export and call", moved.in_autocast_block, 2, None, _autocast, 4),
    Section("unsteady", "kernels that may disagree", drawn.of_unsteady_kernels, 1, len(texts.UNSTEADY)),
    Section("memory", "memory that is freed", memory.is_freed, 2, len(memory.WAYS)),
    Section("inductor", "torch.compile with Triton", drawn.with_inductor, 8, lacks=_inductor),
    Section("aoti", "AOTInductor", drawn.with_aoti, 2, lacks=_inductor),
)


def section(name: str) -> Section:
    """Return the section with this name."""
    return next(each for each in SECTIONS if each.name == name)


def impossible(device: str) -> dict[str, str]:
    """Return, by section, why its question cannot be asked on the device."""
    reasons = {each.name: each.lacks(device) for each in SECTIONS}
    return {name: reason for name, reason in reasons.items() if reason}

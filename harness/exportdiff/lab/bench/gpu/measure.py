"""The measurement ``gpu``: runs all sections, and reports while they run."""

from __future__ import annotations

import os
import re
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import torch

from exportdiff.core.errors import UsageError
from exportdiff.lab.bench.figures import Figure, Result, Rows
from exportdiff.lab.bench.gpu.schedule import Board, run_sections
from exportdiff.lab.bench.gpu.sections import SECTIONS, impossible
from exportdiff.runtime import second_device
from exportdiff.runtime.paths import available_devices

if TYPE_CHECKING:
    import pathlib

    from exportdiff.lab.bench.context import Context
    from exportdiff.lab.bench.gpu.found import Difference, Ran

ENVIRONMENT = {
    # Otherwise torch.cuda.is_available() makes CUDA unusable in processes that are forked later.
    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
    # Otherwise each worker starts a process for each core.
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
}
EVERY = 10.0
"""Seconds between two reports."""
END = 10.0
"""Seconds before the end of the time at which no task runs any more: what is left is for the report."""


def measure(context: Context) -> Result:
    """Run every section that the device allows, until the time is over."""
    begun = time.monotonic()
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    device, reason = device_of(context.device)
    lacking = dict.fromkeys((each.name for each in SECTIONS), reason) if reason else impossible(device)
    board, reporter = Board(), _Reporter(context, device, lacking)
    possible = [each for each in SECTIONS if each.name not in lacking]
    interrupted = False
    if possible:
        try:
            run_sections(
                possible,
                device,
                context.seed,
                until=begun + max(context.seconds - END, 1.0),
                workers=context.workers,
                board=board,
                on_result=lambda name, ran: reporter.note(board, name, ran),
            )
        except KeyboardInterrupt:
            interrupted = True
    return result_of(board, device, lacking, interrupted=interrupted)


def device_of(wanted: str) -> tuple[str, str]:
    """Return the device to run on, and why that is not possible; the reason is empty if it is."""
    if wanted == second_device.NAME:
        second_device.load()
        return wanted, ""
    if "cuda" in available_devices():
        return "cuda", ""
    if wanted == "cuda":
        raise UsageError("--device cuda: torch finds no such device; --device second needs no GPU")
    return "cuda", "torch finds no GPU; --device second needs none"


class _Reporter:
    """Prints each difference, and hands over what is known, while tasks run."""

    def __init__(self, context: Context, device: str, lacking: dict[str, str]) -> None:
        self._context = context
        self._device = device
        self._lacking = lacking
        self._last = time.monotonic()
        self._number = 0

    def note(self, board: Board, name: str, ran: Ran) -> None:
        """Report what some tasks found."""
        for each in ran.differences:
            self._number += 1
            file = _written(each, self._context.programs, self._number)
            print(
                f"{name}: {each.path}: {each.check}: {each.title[:200]} {file}", file=sys.stderr, flush=True
            )
        if ran.differences or time.monotonic() - self._last >= EVERY:
            self._last = time.monotonic()
            self._context.report(result_of(board, self._device, self._lacking))
            done = sum(each.programs for each in board.ran.values())
            print(f"gpu: {done} programs", file=sys.stderr, flush=True)


def _written(each: Difference, folder: pathlib.Path | None, number: int) -> str:
    """Write the program to the folder; return the name of the file."""
    if folder is None or not each.source:
        return ""
    folder.mkdir(exist_ok=True)
    file = folder / f"{number:03}-{re.sub(r'[^A-Za-z0-9_.-]', '-', each.program)}.py"
    comment = f"# {each.path}: {each.check}: {each.title}".replace("\n", " ")
    file.write_text(f"{comment}\n{each.source}", encoding="utf-8")
    return file.name


def result_of(board: Board, device: str, lacking: dict[str, str], *, interrupted: bool = False) -> Result:
    """Return all that is known."""
    figures, differing = [], []
    for each in SECTIONS:
        ran = board.ran[each.name]
        if reason := lacking.get(each.name):
            figures.append(Figure(f"{each.name}: {each.question}", None, note=f"not possible: {reason}"))
            continue
        figures.append(Figure(f"{each.name}: {each.question}", ran.programs, "programs", note=_note(ran)))
        differing += [(each.name, found.path, found.check, found.title[:300]) for found in ran.differences]
    tables = [
        Rows("what differs on the device alone", ("section", "path", "check", "what"), tuple(differing))
    ]
    return Result(
        tuple(figures),
        tuple(rows for rows in tables if rows.rows),
        data=_data(board, device, lacking),
        interrupted=interrupted,
        exit_code=_exit_code(board, differs=bool(differing)),
    )


def _note(ran: Ran) -> str:
    """Return the counts that are not 0, in a line."""
    counts = {
        "runs": ran.runs,
        "differences": len(ran.differences),
        "also on the CPU": ran.shared,
        "not repeated": ran.unsteady,
        "dropped": len(ran.dropped),
    }
    return "; ".join(f"{number} {word}" for word, number in counts.items() if number) or "nothing ran"


def _exit_code(board: Board, *, differs: bool) -> int:
    if board.errors:
        return 3
    if differs:
        return 1
    return 0 if any(ran.runs for ran in board.ran.values()) else 2


def _data(board: Board, device: str, lacking: dict[str, str]) -> dict[str, Any]:
    name = torch.cuda.get_device_name() if device == "cuda" and "cuda" in available_devices() else device
    return {
        "device": device,
        "device_name": name,
        "not_possible": lacking,
        "errors": board.errors,
        "sections": {each.name: _section(board.ran[each.name], board.busy[each.name]) for each in SECTIONS},
    }


def _section(ran: Ran, seconds: float) -> dict[str, Any]:
    return {
        "programs": ran.programs,
        "runs": ran.runs,
        "also_on_cpu": ran.shared,
        "not_repeated": ran.unsteady,
        "process_seconds": round(seconds, 1),
        "dropped": dict(Counter(ran.dropped).most_common()),
        "differences": [
            {
                "program": each.program,
                "path": each.path,
                "check": each.check,
                "title": each.title,
                "on_cpu": each.on_cpu,
                "source": each.source,
            }
            for each in ran.differences
        ],
    }

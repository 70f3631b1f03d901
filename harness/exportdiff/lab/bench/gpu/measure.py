"""The measurement ``gpu``: runs all sections, and reports while they run."""

from __future__ import annotations

import os
import re
import sys
import textwrap
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
    from collections.abc import Mapping

    from exportdiff.lab.bench.context import Context
    from exportdiff.lab.bench.gpu.found import Difference, Ran
    from exportdiff.lab.bench.gpu.sections import Section

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
SHOWN = 90
"""Characters of a title in the table of differences; the JSON document has all of it."""


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
    return result_of(board, device, lacking, reporter.files, interrupted=interrupted)


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
        self.files: dict[Difference, str] = {}
        """The file of each difference; empty if there is no folder for files."""

    def note(self, board: Board, name: str, ran: Ran) -> None:
        """Report what some tasks found."""
        for each in ran.differences:
            self._number += 1
            file = self.files[each] = _written(each, self._context.programs, self._number)
            print(
                f"{name}: {each.path}: {each.check}: {each.title[:200]} {file}", file=sys.stderr, flush=True
            )
        if ran.differences or time.monotonic() - self._last >= EVERY:
            self._last = time.monotonic()
            self._context.report(result_of(board, self._device, self._lacking, self.files))
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


def result_of(
    board: Board,
    device: str,
    lacking: dict[str, str],
    files: Mapping[Difference, str] | None = None,
    *,
    interrupted: bool = False,
) -> Result:
    """Return all that is known."""
    tables = [_counts(board, lacking), _differing(board, lacking, files or {})]
    return Result(
        tuple(_figure(each, board.ran[each.name], lacking.get(each.name, "")) for each in SECTIONS),
        tuple(rows for rows in tables if rows.rows),
        data=_data(board, device, lacking),
        interrupted=interrupted,
        exit_code=_exit_code(board, differs=any(ran.differences for ran in board.ran.values())),
    )


def _figure(each: Section, ran: Ran, reason: str) -> Figure:
    name = f"{each.name}: {each.question}"
    if reason:
        return Figure(name, None, note=f"not possible: {reason}")
    return Figure(name, ran.programs, "programs")


def _counts(board: Board, lacking: dict[str, str]) -> Rows:
    """Return the counts of each section; a 0 is left out."""
    ran = {name: ran for name, ran in board.ran.items() if name not in lacking}
    counts = {
        "runs": {name: each.runs for name, each in ran.items()},
        "differences": {name: len(each.differences) for name, each in ran.items()},
        "also on the CPU": {name: each.shared for name, each in ran.items()},
        "not repeated": {name: each.unsteady for name, each in ran.items()},
        "dropped": {name: len(each.dropped) for name, each in ran.items()},
    }
    rows = tuple((name, *(count[name] or "" for count in counts.values())) for name in ran)
    return Rows("what ran on the device", ("section", *counts), rows)


def _differing(board: Board, lacking: dict[str, str], files: Mapping[Difference, str]) -> Rows:
    """Return a row for all differences of a section with the same title, and the file of the first."""
    rows: list[tuple[object, ...]] = []
    for name in (each.name for each in SECTIONS if each.name not in lacking):
        alike: dict[tuple[str, str], list[Difference]] = {}
        for each in board.ran[name].differences:
            alike.setdefault((each.check, each.title), []).append(each)
        for (check, title), found in sorted(alike.items(), key=lambda item: -len(item[1])):
            file = files.get(found[0]) or found[0].program
            rows.append((name, check, len(found), file, _short(title.removeprefix(f"{check} "))))
    return Rows(
        "what differs on the device alone", ("section", "check", "count", "first", "what"), tuple(rows)
    )


def _short(title: str) -> str:
    """Return the start of the first line."""
    return textwrap.shorten(title.partition("\n")[0], SHOWN, placeholder=" ...")


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

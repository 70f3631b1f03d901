"""How much of torch.export a campaign runs: lines and branches of its files, by coverage.py."""

from __future__ import annotations

import ast
import gc
import importlib
import io
import json
import pathlib
import tempfile
import time
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count
from typing import TYPE_CHECKING, Any

from exportdiff.fuzzing.campaign.worker import Job, run_examples
from exportdiff.lab.bench.figures import Figure, Result, Rows
from exportdiff.lab.bench.records import warm_up
from exportdiff.lab.bench.threads import in_threads
from exportdiff.runtime.processes.child import Death, TaskFailure
from exportdiff.runtime.processes.in_child import call_fresh

if TYPE_CHECKING:
    from threading import Event

    from exportdiff.lab.bench.context import Context

MODULES = (
    "torch.export.unflatten",
    "torch.export._unlift",
    "torch.export._swap",
    "torch.export.exported_program",
    "torch.export._trace",
    "torch._export.non_strict_utils",
)
MISSING = "coverage.py is not installed: pip install 'exportdiff[bench]'"
BATCH = 4
Arc = tuple[int, int]


@dataclass(frozen=True)
class Reached:
    """What was run of one file; only bodies of functions count, since imports ran before."""

    lines: frozenset[int]
    branches: frozenset[Arc]
    all_lines: frozenset[int]
    all_branches: frozenset[Arc]

    def __or__(self, other: Reached) -> Reached:
        """Join what two processes ran."""
        return Reached(
            self.lines | other.lines, self.branches | other.branches, self.all_lines, self.all_branches
        )


def measure(context: Context) -> Result:
    """Run a campaign on the default paths with coverage on, each worker with different programs."""
    if find_spec("coverage") is None:
        return Result((Figure("lines of torch.export reached", None, note=MISSING),))
    seconds, workers = context.scale.coverage_seconds, context.workers
    job = Job(context.seed, context.default_paths)
    numbers = iter(range(workers))
    answers: list[tuple[int, dict[str, Reached]] | Death | TaskFailure] = []

    def work(stop: Event) -> None:
        limit, number = 4 * seconds + 120, next(numbers)
        answers.append(call_fresh(limit, run_covered, job, seconds, number, workers, stop=stop))

    in_threads(workers, work)
    parts = [answer for answer in answers if not isinstance(answer, Death | TaskFailure)]
    if not parts:
        return Result((Figure("lines of torch.export reached", None, note=f"no answer: {answers[0]}"),))
    programs = sum(part[0] for part in parts)
    reached = parts[0][1]
    for _, more in parts[1:]:
        reached = {name: reached[name] | more[name] for name in reached}
    return summary(reached, programs)


def run_covered(job: Job, seconds: float, first: int, step: int) -> tuple[int, dict[str, Reached]]:
    """Judge programs for some time in this process; return their number and what they reached."""
    import coverage  # here, because it is optional

    gc.disable()
    warm_up(job.paths)
    files = {name: str(importlib.import_module(name).__file__) for name in MODULES}
    cover = coverage.Coverage(data_file=None, branch=True, include=list(files.values()), messages=False)
    ends = time.monotonic() + seconds
    cover.start()
    for number in count():
        if time.monotonic() >= ends:
            break
        start = (first + number * step) * BATCH
        run_examples(job, tuple(range(start, start + BATCH)))
    cover.stop()
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
        report = pathlib.Path(folder, "report.json")
        cover.json_report(outfile=str(report))
        document = json.loads(report.read_text())["files"]
    by_file = {str(pathlib.Path(name).resolve()): entry for name, entry in document.items()}
    found = {
        name: _reached(by_file.get(str(pathlib.Path(file).resolve())), file) for name, file in files.items()
    }
    return number * BATCH, found


def _reached(entry: dict[str, Any] | None, file: str) -> Reached:
    inside = lines_of_functions(pathlib.Path(file).read_text())
    if entry is None:
        return Reached(frozenset(), frozenset(), frozenset(inside), frozenset())
    ran, missing = (
        frozenset(line for line in entry[key] if line in inside)
        for key in ("executed_lines", "missing_lines")
    )
    taken, untaken = (
        frozenset((start, end) for start, end in entry[key] if start in inside)
        for key in ("executed_branches", "missing_branches")
    )
    return Reached(ran, taken, ran | missing, taken | untaken)


def lines_of_functions(source: str) -> frozenset[int]:
    """Return the numbers of the lines inside bodies of functions."""
    bodies = (
        node.body
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return frozenset(
        line
        for body in bodies
        for each in body
        for line in range(each.lineno, (each.end_lineno or each.lineno) + 1)
    )


def summary(reached: dict[str, Reached], programs: int) -> Result:
    """Return the figures and tables for what a campaign ran of each module."""
    rows = []
    for name, each in reached.items():
        lines, branches = _percentages(each)
        rows.append((name, f"{lines:.1f}", f"{branches:.1f}", len(each.all_lines - each.lines)))
    data = {
        "programs": programs,
        "unreached_lines": {name: sorted(each.all_lines - each.lines) for name, each in reached.items()},
    }
    table = Rows("coverage of torch.export", ("module", "lines %", "branches %", "lines left"), tuple(rows))
    lines, branches = _percentages(reached[MODULES[0]])
    note = f"bodies of functions, {programs} programs"
    figures = (
        Figure("lines of unflatten.py reached", lines, "%", note=note),
        Figure("branches of unflatten.py reached", branches, "%", note=note),
    )
    return Result(figures, (table,), data)


def _percentages(each: Reached) -> tuple[float, float]:
    return percent(len(each.lines), len(each.all_lines)), percent(len(each.branches), len(each.all_branches))


def percent(part: int, whole: int) -> float:
    """Return a percentage; 0 of nothing."""
    return 100 * part / whole if whole else 0.0

"""The first minute of a campaign, as a user sees it: the command is run, and its events are read."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from exportdiff.lab.bench.figures import Figure, Result

if TYPE_CHECKING:
    from exportdiff.lab.bench.context import Context

SECONDS = 60
POLL = 0.05
"""Seconds between two looks at the events."""
JUDGED = '{"event": "example_done"'


def measure(context: Context) -> Result:
    """Run ``exportdiff fuzz --time 60s``, without minimizing."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        started = time.monotonic()
        running = subprocess.Popen(
            _command(context, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            while running.poll() is None and not _judged(out):
                time.sleep(POLL)
            first = time.monotonic() - started
            running.wait()
        finally:
            running.kill()
        ended = time.monotonic() - started
        programs = _judged(out)
    note = f"fuzz --time {SECONDS}s on {context.workers} workers; other programs on the machine lower it"
    return Result(
        (
            Figure("programs in the first minute", programs, note=note),
            Figure("the first judged program", first if programs else None, "s", "<= 3"),
            Figure("end after the given time", ended - SECONDS, "s", "<= 5"),
        )
    )


def _command(context: Context, out: pathlib.Path) -> list[str]:
    campaign = ("--time", f"{SECONDS}s", "--seed", str(context.seed), "--workers", str(context.workers))
    only = ("--minimize", "0", "--known-every", "0", "--out", str(out))
    corpora = () if context.corpora is None else ("--corpora", str(context.corpora))
    return [sys.executable, "-m", "exportdiff", "fuzz", *campaign, *only, *corpora]


def _judged(out: pathlib.Path) -> int:
    """Return how many programs were judged so far."""
    try:
        lines = (out / "events.ndjson").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return 0
    return sum(line.startswith(JUDGED) for line in lines)

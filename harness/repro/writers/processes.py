"""How to show processes that die or hang."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from harness.checks.alive import ProcessDied
from harness.repro.parts import Parts
from harness.repro.paste import Template
from harness.repro.templates.stand_ins import HANGS, SECONDS, export, inputs, lower, make

if TYPE_CHECKING:
    from harness.findings import Finding


def run_apart() -> None:
    """Make the first call in a process of its own."""
    if sys.argv[1:] == ["run"]:  # in a process of its own, which this may take down
        model, args, kwargs = make()
        ep = export(model)
        candidate = lower(ep)
        args, kwargs = inputs()
        candidate(*args, **kwargs)
        sys.exit(0)
    code: int | str
    try:
        code = subprocess.run([sys.executable, __file__, "run"], timeout=SECONDS).returncode
    except subprocess.TimeoutExpired:
        code = "no end within SECONDS s"
    bug = isinstance(code, str) if HANGS else isinstance(code, int) and code < 0
    print(f"BUG: {code}" if bug else f"ok: the process ends by itself, exit code {code}")
    sys.exit(1 if bug else 3 if code else 0)


def write(finding: Finding) -> Parts | None:
    """Write down how a process ends that runs the path."""
    if not isinstance(finding.evidence, ProcessDied):
        return None
    return Parts([], [Template(run_apart, {"HANGS": finding.evidence.kind == "hang"})])

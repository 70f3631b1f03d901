"""How to show processes that die or hang."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import torch

from exportdiff.judging.checks.alive import ProcessDied
from exportdiff.repro.parts import ScriptParts
from exportdiff.repro.paste import Template
from exportdiff.repro.templates.stand_ins import (
    HANGS,
    MEMORY,
    ON_DEVICE,
    PROBES,
    SECONDS,
    export,
    inputs,
    lower,
    make,
    when,
)
from exportdiff.repro.templates.stand_ins import probes as given_probes

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding


def run_apart() -> None:
    """Make the first call, and those of the probes, in a separate process."""
    if sys.argv[1:] == ["run"]:  # in a separate process, which this may end
        model, args, kwargs = make()
        ep = export(model)
        candidate = lower(ep)
        args, kwargs = inputs()
        candidate(*args, **kwargs)
        if PROBES:
            with when(ON_DEVICE, torch.device("DEVICE")):
                further = given_probes()
            for given in further:
                with contextlib.suppress(Exception):  # a call may be refused
                    candidate(*given[0], **given[1])
        sys.exit(0)
    code: int | str
    try:
        code = subprocess.run([sys.executable, __file__, "run"], timeout=SECONDS).returncode
    except subprocess.TimeoutExpired:
        code = "no end within SECONDS s"
    bug = isinstance(code, str) if HANGS else isinstance(code, int) and code < 0
    print(f"BUG: {code}" if bug else f"ok: the process ends by itself, exit code {code}")
    sys.exit(1 if bug else 3 if code else 0)


def run_apart_in_memory() -> None:
    """Make the first call, and those of the probes, in a separate process; look at its memory (Linux)."""
    if sys.argv[1:] == ["run"]:  # in a separate process, whose memory this may fill
        model, args, kwargs = make()
        ep = export(model)
        candidate = lower(ep)
        args, kwargs = inputs()
        candidate(*args, **kwargs)
        if PROBES:
            with when(ON_DEVICE, torch.device("DEVICE")):
                further = given_probes()
            for given in further:
                with contextlib.suppress(Exception):  # a call may be refused
                    candidate(*given[0], **given[1])
        sys.exit(0)
    process = subprocess.Popen([sys.executable, __file__, "run"])
    used = 0
    while used < MEMORY and process.poll() is None:
        with open(f"/proc/{process.pid}/status") as status:
            resident = re.search(r"VmRSS:\s+(\d+)", status.read())
        used = max(used, int(resident[1]) // 1024 if resident else 0)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.02)
    process.kill()
    code = process.wait()
    bug = used >= MEMORY
    print(f"BUG: it takes over {used} MiB of memory" if bug else f"ok: {used} MiB of memory")
    sys.exit(1 if bug else 3 if code else 0)


def write(finding: Finding) -> ScriptParts | None:
    """Write down how a process ends that runs the path."""
    if not isinstance(finding.evidence, ProcessDied):
        return None
    if finding.evidence.memory is not None:
        # Half of the limit: the process that runs the file has the same one, and must not end first.
        script = Template(run_apart_in_memory, {"MEMORY": str(finding.evidence.memory // 2)})
    else:
        script = Template(run_apart, {"HANGS": finding.evidence.kind == "hang"})
    return ScriptParts([], [script], calls_probes=True)  # nobody knows which call it was

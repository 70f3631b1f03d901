"""How to write down the runner of a path: what is compared with eager."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.paths.run.pipelined import PIPELINES
from harness.repro.parts import NoReproError
from harness.repro.paste import Template, with_helpers
from harness.repro.templates import runners

if TYPE_CHECKING:
    from harness.findings import Finding
    from harness.repro.paste import Values

_BACKENDS = {"compiled": "eager", "aot_eager": "aot_eager", "inductor": "inductor"}
"""The backend of torch.compile, by runner."""
_EXPORTED = {"module": "EP.module()", "unflatten": "torch.export.unflatten(EP)"}
_RUNNERS = {
    "nonstrict": _EXPORTED,
    "strict": _EXPORTED,
    "compile": dict.fromkeys(_BACKENDS, "compiled(model)"),
    "pipeline": {name: f"{name}(model, args, KWARGS)" for name in PIPELINES},
    "aoti": {"package": "packaged(EP)"},
}
"""By mode and runner: how to make what is compared with eager from a program."""


def runner_name(finding: Finding) -> str:
    """Return what the file calls the thing that it compares with eager."""
    return "torch.compile" if finding.mode == "compile" else "+".join((*finding.transforms, finding.runner))


def run_from(program: str, finding: Finding, *, has_kwargs: bool) -> str:
    """Return the expression for what is compared with eager, from that for the program.

    Raises NoReproError for a mode or runner that repro files do not know.
    """
    made = _RUNNERS.get(finding.mode, {}).get(finding.runner)
    if made is None:
        raise NoReproError(f"no way to write down the path {finding.path}")
    return made.replace("EP", program).replace("KWARGS", "kwargs" if has_kwargs else "{}")


def runner_helpers(finding: Finding, *, random: bool) -> list[str]:
    """Return the functions that the expression calls; ``random``: whether a call draws random numbers."""
    if finding.mode == "compile":
        values: Values = {"RANDOM": random, "BACKEND": _BACKENDS[finding.runner]}
        return [Template(runners.compiled, values).text]
    if finding.mode == "pipeline":
        return list(with_helpers(PIPELINES[finding.runner]))
    if finding.mode == "aoti":
        return [Template(runners.packaged).text]
    return []

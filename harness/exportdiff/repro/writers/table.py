"""The table of writers: for each check, the writer of its findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.judging.checks.alive import ALIVE
from exportdiff.repro.parts import NoReproError
from exportdiff.repro.writers import (
    aliasing,
    compiled,
    fake,
    gradients,
    guards,
    inputs,
    memory,
    outputs,
    processes,
    purity,
    sharing,
    state,
)
from exportdiff.repro.writers.structure import write as structure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exportdiff.core.finding import Finding
    from exportdiff.repro.parts import ScriptParts, Writer

WRITERS: Mapping[str, Writer] = {
    ALIVE: processes.write,
    "outputs": outputs.write,
    "inputs": inputs.write,
    "state": state.write,
    "sharing": sharing.write,
    "aliasing": aliasing.write,
    "guards": guards.write,
    "purity": purity.write,
    "structure": structure.write,
    "fake": fake.write,
    "gradients": gradients.write,
    "memory": memory.write,
}
"""By check."""


def parts_of(finding: Finding) -> ScriptParts:
    """Return what the writer of the finding's check writes.

    Raises NoReproError for an unknown check, and for evidence that its writer cannot show.
    """
    if finding.check not in WRITERS:
        raise NoReproError(f"no way to write down a finding of the check {finding.check}")
    # On a path that compiles, some findings need other scripts than on the others.
    parts = compiled.write(finding) if finding.mode == "compile" else None
    parts = parts or WRITERS[finding.check](finding)
    if parts is None:
        raise NoReproError(f"no way to write down {' '.join(finding.signature)}")
    return parts

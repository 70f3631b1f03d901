"""The writer of the structure check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.repro.facts import absent_module, words
from harness.repro.writers.structure.calls import write_calls
from harness.repro.writers.structure.modules import write_modules, write_variants
from harness.repro.writers.structure.names import write_names
from harness.repro.writers.structure.steps import write_broken, write_steps

if TYPE_CHECKING:
    from harness.findings import Finding
    from harness.repro.parts import Parts


def write(finding: Finding) -> Parts | None:
    """Write down what is wrong with names, calls, modules and graphs."""
    group, word = words(finding)[:2]
    if group in ("names", "signature"):
        return write_names(word)
    if group == "calls":
        return write_calls(word, made=finding.stage == "lower", module=absent_module(finding))
    if group == "modules":
        return write_modules(word)
    if group == "variants":
        return write_variants()
    if group == "graph":
        return write_broken(exported=finding.stage == "export")
    return write_steps(places=word in ("owner", "call"))

"""How to show that modules, parameters or buffers come in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exportdiff.repro.parts import ScriptParts
from exportdiff.repro.paste import Template
from exportdiff.repro.templates.stand_ins import NAMED
from exportdiff.repro.writers.structure.common import lowered, verdict

if TYPE_CHECKING:
    from exportdiff.judging.checks.structure.enumeration import OrderDiffers


def compare_order(model: Any, candidate: Any) -> list[str]:
    """Compare the order of the names that both have."""
    named = [[n for n, _ in NAMED(m, remove_duplicate=False)] for m in (model, candidate)]
    expected, seen = ([n for n in names if n in named[0] and n in named[1]] for names in named)
    bug = [f"the WHAT are {seen}, in eager {expected}"] if seen != expected else []
    return bug


def write(evidence: OrderDiffers) -> ScriptParts:
    """Write down both orders."""
    comparing = Template(
        compare_order, {"NAMED": f"torch.nn.Module.named_{evidence.what}", "WHAT": evidence.what}
    )
    return ScriptParts([], [Template(lowered), comparing, verdict("they come in eager's order")])

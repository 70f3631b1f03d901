"""The writer of the structure check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.judging.checks.structure.call_order import CallMissing, CallOrder, CallsUnknown
from exportdiff.judging.checks.structure.check import (
    GraphBroken,
    ModuleCycle,
    ModulesMissing,
    ModulesUnknown,
    NeedlessVariant,
)
from exportdiff.judging.checks.structure.enumeration import OrderDiffers
from exportdiff.judging.checks.structure.signature import SignatureMismatch, SpecKind, SpecTarget, TableNames
from exportdiff.judging.checks.structure.translation import StepDiffers, StepMoved
from exportdiff.repro.writers.structure import calls, modules, names, order, steps

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding
    from exportdiff.repro.parts import ScriptParts


def write(finding: Finding) -> ScriptParts | None:
    """Write down what is wrong with names, calls, modules and graphs."""
    match finding.evidence:
        case SignatureMismatch() | TableNames() | SpecKind() | SpecTarget() as evidence:
            return names.write(evidence)
        case CallsUnknown() | CallOrder() | CallMissing() as evidence:
            return calls.write(evidence)
        case ModuleCycle() | ModulesMissing() | ModulesUnknown() | NeedlessVariant() as evidence:
            return modules.write(evidence)
        case StepDiffers() | StepMoved() | GraphBroken() as evidence:
            return steps.write(evidence, finding)
        case OrderDiffers() as evidence:
            return order.write(evidence)
    return None

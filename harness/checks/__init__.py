"""Checks: pure functions from (what eager did, what a path did) to differences."""

from harness.checks.aliasing import aliasing
from harness.checks.fake import fake
from harness.checks.gradients import gradients
from harness.checks.guards.check import guards
from harness.checks.inputs import inputs
from harness.checks.outputs import outputs
from harness.checks.purity import purity
from harness.checks.registry import Check, Difference
from harness.checks.sharing import sharing
from harness.checks.state import state
from harness.checks.structure.check import structure

DYNAMIC: dict[str, Check] = {check.__name__: check for check in (outputs, inputs, state, aliasing, gradients)}
"""What happens call by call. Of these only the first difference counts: the rest follows from it."""

STATIC: dict[str, Check] = {check.__name__: check for check in (sharing, structure, guards, purity, fake)}
"""What holds without a call. Independent of each other and of the dynamic checks."""

CHECKS: dict[str, Check] = {**DYNAMIC, **STATIC}
"""All of them by name, in the order in which they are reported."""

__all__ = ["CHECKS", "DYNAMIC", "STATIC", "Check", "Difference"]

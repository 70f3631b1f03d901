"""Checks: pure functions from (what eager did, what a path did) to evidence of how they differ.

A check is one file, or one sub-package, with its evidence classes and its comparison. Adding one takes an
import and one line below.
"""

from harness.checks.aliasing import aliasing
from harness.checks.evidence import Check
from harness.checks.fake import fake
from harness.checks.gradients import gradients
from harness.checks.guards.check import guards
from harness.checks.inputs import inputs
from harness.checks.outputs import outputs
from harness.checks.purity import purity
from harness.checks.sharing import sharing
from harness.checks.state import state
from harness.checks.structure.check import structure

OF_CALLS: dict[str, Check] = {
    check.__name__: check for check in (outputs, inputs, state, aliasing, gradients)
}
"""Checks of what every run shows, call by call: they can also compare two runs of eager."""

OF_PATHS: dict[str, Check] = {
    check.__name__: check
    for check in (
        sharing,
        structure,
        guards,
        purity,
        fake,
    )
}
"""Checks of what only export, or a path, promises."""

CHECKS: dict[str, Check] = {**OF_CALLS, **OF_PATHS}
"""All checks by name, in the order in which findings are reported."""

__all__ = ["CHECKS", "OF_CALLS", "OF_PATHS", "Check"]
